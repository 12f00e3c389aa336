package chrome

import (
	"errors"

	"github.com/chromedp/cdproto/target"
)

// maxTabs bounds a session's tabs; what a page opens beyond is closed at once.
const maxTabs = 32

var errTooManyTabs = errors.New("too many tabs")

// places are those that tabs have which Chrome is still making.
type places struct {
	taken int
	away  map[target.ID]bool // pages that came meanwhile and found no place
}

// takePlace keeps a place for a tab that is to be made, until givePlace.
func (b *Browser) takePlace() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.tabs)+b.places.taken >= maxTabs {
		return errTooManyTabs
	}
	b.places.taken++
	return nil
}

func (b *Browser) givePlace() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.places.taken--; b.places.taken == 0 {
		b.places.away = nil
	}
}

// turnAway closes a page that finds no place; who may be waiting for it hears. mu must be held.
func (b *Browser) turnAway(page target.ID) {
	post(b.proc.conn, "", target.CloseTarget, target.CloseTargetParams{TargetID: page})
	if b.places.taken == 0 {
		return
	}
	if b.places.away == nil {
		b.places.away = map[target.ID]bool{}
	}
	b.places.away[page] = true
	b.tellChanged()
}
