package browse

import (
	"context"
	"time"

	"chaperone/relay/program"
)

// arrivalTime is how long an answer waits for the address of a tab that a page opened: a script opens it blank and leads
// it on a moment later.
const arrivalTime = 700 * time.Millisecond

// changer is a browser that says when its tabs are others than they were.
type changer interface {
	// Changed is closed when Tabs has another list than now.
	Changed() <-chan struct{}
}

// arrived are tabs that a page opened, as they stand once each has an address, or its time is up.
func (e *Engine) arrived(ctx context.Context, opened []program.Tab) []program.Tab {
	browser, ok := e.browser.(changer)
	if !ok || len(opened) == 0 {
		return opened
	}
	ctx, cancel := context.WithTimeout(ctx, arrivalTime)
	defer cancel()
	for {
		changed := browser.Changed()
		now, waits := e.asTheyStand(opened)
		if !waits {
			return now
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return now
		}
	}
}

// asTheyStand are the tabs as they are listed now, and whether one has no address.
func (e *Engine) asTheyStand(opened []program.Tab) (now []program.Tab, waits bool) {
	listed := map[string]program.Tab{}
	for _, tab := range e.browser.Tabs() {
		listed[tab.ID] = tab
	}
	for _, tab := range opened {
		is, ok := listed[tab.ID]
		if !ok {
			is = tab // a list may come later than the answer that named it
		}
		waits = waits || is.URL == "" || is.URL == blankPage
		now = append(now, is)
	}
	return now, waits
}
