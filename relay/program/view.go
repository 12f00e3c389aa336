package program

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// maxRecordedDialogs bounds what a page that opens dialogs without end adds to a result.
const maxRecordedDialogs = 32

// view is what the tab's events have told so far. The transport's reader writes it; whoever has the executor's
// turn reads it.
type view struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and made anew at every change
	main     string        // frame id
	address  string
	children []childTarget     // in the order of their attachment
	worlds   map[string]*world // by frame id; gone as soon as the frame's document is
	// The rest counts from the program's start.
	remembers func(event string) bool
	seen      map[string]json.RawMessage // the first event of each name worth remembering
	nav       navigation
	requests  requests
	dialogs   []Dialog
	opened    int      // dialogs, ever
	own       int      // how many had opened when the program began
	keep      []string // the kinds of dialogs that stay open
	isBlocked bool     // by an open dialog
	isEnded   bool
}

// childTarget is an out-of-process frame.
type childTarget struct {
	session   string // CDP's sessionId
	frame     string
	parent    string // the target session it was announced in
	isEnabled bool   // it has been asked for its own events and frames
}

func newView(remembers func(event string) bool) *view {
	return &view{
		changed:   make(chan struct{}),
		worlds:    map[string]*world{},
		remembers: remembers,
		seen:      map[string]json.RawMessage{},
	}
}

func (v *view) update(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *view) read(look func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	look()
}

// until waits until holds answers true, or ctx ends. holds is called under the lock.
func (v *view) until(ctx context.Context, holds func() bool) error {
	for {
		v.mu.Lock()
		done, changed := holds(), v.changed
		v.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// begin starts the count of a program that keeps dialogs of some kinds open. A dialog that is open already is the
// program's to answer.
func (v *view) begin(keep []string) {
	v.update(func() {
		v.isEnded, v.keep, v.own = false, keep, v.opened
		v.nav, v.requests = v.nav.afterwards(), newRequests(false)
		clear(v.seen)
		if v.isBlocked {
			v.dialogs = v.dialogs[len(v.dialogs)-1:]
		} else {
			v.dialogs = nil
		}
	})
}

func (v *view) end() { v.update(func() { v.isEnded = true }) }

// forget drops what was known of a tab that is being attached anew.
func (v *view) forget() {
	v.update(func() {
		v.children, v.dialogs, v.isBlocked, v.nav = nil, nil, false, navigation{}
		clear(v.worlds)
	})
}

func (v *view) setMain(frame, url string) {
	v.update(func() { v.main, v.address = frame, url })
}

func (v *view) mainFrame() (frame string) {
	v.read(func() { frame = v.main })
	return frame
}

func (v *view) url() (address string) {
	v.read(func() { address = v.address })
	return address
}

func (v *view) targets() (children []childTarget) {
	v.read(func() { children = slices.Clone(v.children) })
	return children
}

func (v *view) setEnabled(session string) {
	v.update(func() {
		for i := range v.children {
			if v.children[i].session == session {
				v.children[i].isEnabled = true
			}
		}
	})
}

func (v *view) recorded() (dialogs []Dialog) {
	v.read(func() {
		dialogs = slices.Clone(v.dialogs)
		if v.isBlocked {
			dialogs[len(dialogs)-1].Open = true
		}
	})
	return dialogs
}

func (v *view) navigation() (nav navigation) {
	v.read(func() { nav = v.nav })
	return nav
}

// world is the frame's world, nil when it has none; it may still be on its way.
func (v *view) world(frame string) (w *world) {
	v.read(func() { w = v.worlds[frame] })
	return w
}

func (v *view) setWorld(frame string, w *world) { v.update(func() { v.worlds[frame] = w }) }

func (v *view) dropWorld(frame string) { v.update(func() { delete(v.worlds, frame) }) }
