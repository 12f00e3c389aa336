package chrome

import (
	"context"
	"log/slog"

	"chaperone/relay/program"
)

// Options configure a Pool. RunDir and Egress are required.
type Options struct {
	// Binary is the browser's path; empty means the first that Find finds.
	Binary string
	// RunDir holds profiles and sockets; made 0700 when missing. One live pool owns it at a time.
	RunDir string
	Egress Egress
	// PageScript is the source of the page script that programs run functions of.
	PageScript string
	// RequireConfinement makes NewPool fail where the kernel cannot confine Chrome.
	RequireConfinement bool
	// Logger may be nil.
	Logger *slog.Logger
}

// Pool is all managed Chrome of a server. Its methods are safe for concurrent use.
type Pool struct{}

// OpenOptions describe a session. Account, Session and Policy are required.
type OpenOptions struct {
	Account string
	Session string
	Policy  Policy
	Width   int // of new tabs' viewport, CSS pixels; 0 is 1280
	Height  int // 0 is 800
}

// NewPool looks for a browser, finds out how far the kernel can confine it, and removes what an earlier,
// killed server left in RunDir, processes included. It starts no Chrome. ctx bounds only this call.
func NewPool(ctx context.Context, o Options) (*Pool, error) { panic("soon") }

// Open starts a session: in a Chrome of the same account and policy if one runs, else in a new one. ctx
// bounds only the opening. Errors are *fault.Fault with code unavailable where Chrome or egress could not
// be had, bad_request for unusable options.
func (p *Pool) Open(ctx context.Context, o OpenOptions) (*Browser, error) { panic("soon") }

// Confinement tells how Chrome is kept from the network.
func (p *Pool) Confinement() Confinement { panic("soon") }

// Binary tells which browser the pool starts.
func (p *Pool) Binary() Binary { panic("soon") }

// Close ends every session and returns when no process, folder or socket of the pool is left. Open
// fails afterwards.
func (p *Pool) Close(ctx context.Context) error { panic("soon") }

// Browser is one session's browser: a context of its own in a managed Chrome. Its methods are safe for
// concurrent use; programs of one session run one after the other.
type Browser struct{}

// Run runs one program in one tab of the session and answers when it has ended. A failed step, a tab that is
// gone (tab_closed) and a refused call (forbidden) are in Result.Error; err is a *fault.Fault, with code
// session_ended once the session is over, or ctx's error.
func (b *Browser) Run(ctx context.Context, p program.Program) (program.Result, error) { panic("soon") }

// Tabs lists the session's open tabs in order of opening. A fresh session has none.
func (b *Browser) Tabs() []program.Tab { panic("soon") }

// Cast calls show with pictures of a tab, one at a time and from one goroutine, at most o.FPS a second, the
// newest always, until ctx ends (nil) or the tab or the session does (*fault.Fault).
func (b *Browser) Cast(ctx context.Context, o program.CastOptions, show func(program.Picture)) error {
	panic("soon")
}

// Close ends the session: its tabs, its context, its way out and, when it was the last, its Chrome. It
// is idempotent.
func (b *Browser) Close(ctx context.Context) error { panic("soon") }

// Done is closed when the session is over, by Close or by a failure.
func (b *Browser) Done() <-chan struct{} { panic("soon") }

// Err says why the session is over: nil before that and after Close.
func (b *Browser) Err() error { panic("soon") }
