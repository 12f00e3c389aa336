package chrome

import (
	"slices"

	"github.com/chromedp/cdproto/target"
)

// maxCrashed bounds how many crashed tabs a session remembers by name; the newest stay.
const maxCrashed = 32

// noteCrash remembers that a page has crashed. Its tab is closed: nothing can be done in it any more.
func (b *Browser) noteCrash(id target.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.find(func(open *tab) bool { return open.targetID == id })
	if t == nil {
		return
	}
	b.crashed = append(b.crashed, t.id)
	b.crashed = b.crashed[max(0, len(b.crashed)-maxCrashed):]
}

// HasCrashed reports whether a tab is gone because its page crashed.
func (b *Browser) HasCrashed(tab string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.crashed, tab)
}
