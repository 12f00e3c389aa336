package endpoint

import (
	"context"

	"chaperone/relay/program"
)

// Edge is one session's tabs, whatever browser they are in. Its methods may be called at the same time.
type Edge interface {
	// Tabs lists the session's tabs and the shared ones that no session owns yet. A tab without a Target is
	// not known well enough to be shown to clients.
	Tabs() []program.Tab
	// Changed is closed when the list is another than it was at the call.
	Changed() <-chan struct{}
	// NewTab makes a blank tab, behind the person's own, and answers its name once Tabs has it.
	NewTab(ctx context.Context) (tab string, err error)
	// CloseTab closes a tab that the session made, also one that hangs; it refuses any other.
	CloseTab(ctx context.Context, tab string) error
	// Hold attaches to a tab for the session's clients and makes it the session's. Events begin at once, with
	// a Target.attachedToTarget for each child that is there. A tab is held once at a time.
	Hold(ctx context.Context, tab string, sink Sink) (Wire, error)
	// Cast gives sink pictures of a tab until ctx ends.
	Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error
	// Done is closed when the session's browser is gone for good.
	Done() <-chan struct{}
}

// Sink takes what a held tab tells. All its methods, and the replies of its Wire, are called in the order in
// which the browser told them, one at a time, by a goroutine that must not be made to wait, and they do not wait.
type Sink interface {
	// Event is one CDP event; child is the edge's own name of a child target session, empty for the page.
	// params is JSON, the sink's to keep, and never changed afterwards. It answers false when the tab has told more
	// than can be handed on: this event and all that come after it are lost, and the edge lets the tab rest until it
	// is attached anew.
	Event(child, method string, params []byte) bool
	// Asleep says that the tab is not attached for now and why, anew when that changes: calls fail until Reset. why is about those that
	// are not made; what was under way has been answered before. not_connected means that the browser itself is
	// not there.
	Asleep(why *program.Error)
	// Reset says that the tab is attached anew: children, enabled domains, overrides and scripts of before are
	// gone at the browser. target is the page's target id, which may be another now.
	Reset(target string)
	// Gone says that the tab cannot be held any more: it was closed, unshared, lowered, or its session ended.
	Gone(why *program.Error)
}

// Wire is a held tab. Its methods may be called at the same time.
type Wire interface {
	// Target is the page's CDP target id, which is also its main frame's id.
	Target() string
	// Send passes one command on, in the order of the calls. It waits only while the way is full, at most
	// until ctx ends. reply is called exactly once unless Send failed: with the result's JSON, or an error: a
	// *program.CallError where Chrome refused, a *program.Error with a contract code otherwise.
	Send(ctx context.Context, child, method string, params []byte, reply func(result []byte, err error)) error
	// Release lets the tab go: whatever the clients changed in it is withdrawn with the attachment. The sink
	// hears nothing more once it has returned.
	Release()
}
