package chrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"chaperone/relay/cdp"
	"chaperone/server/fault"
)

// Options configure a Pool. RunDir and Egress are required.
type Options struct {
	// Binary is the browser's path; empty means the first that Find finds.
	Binary string
	// RunDir holds what lives as long as a Chrome does, sockets among it; made 0700 when missing. One live pool owns it at
	// a time.
	RunDir string
	// ProfileRoot is the folder that persistent profiles are kept in, made 0700 when missing; empty: there are none.
	ProfileRoot string
	Egress      Egress
	// PageScript is the source of the page script that programs run functions of.
	PageScript string
	// Table says which call a program may make at which level; nil is the one that ships.
	Table *cdp.Table
	// RequireConfinement makes NewPool fail where the kernel cannot confine Chrome.
	RequireConfinement bool
	// Warm is how long a Chrome that no session uses is kept for the next one; 0 is 5 minutes, and below it none is.
	Warm time.Duration
	// Logger may be nil.
	Logger *slog.Logger
}

// Pool is all managed Chrome of a server. Its methods are safe for concurrent use.
type Pool struct {
	options     Options
	log         *slog.Logger
	binary      Binary
	full        Binary // for profiles; its Path is empty where there is none
	folder      *runFolder
	words       []string
	confinement Confinement
	patience    time.Duration // of its processes
	seatWait    time.Duration // for a profile that is being let go of

	mu      sync.Mutex
	closed  bool
	slots   map[slotKey]*slot
	seats   map[string]chan struct{} // profiles in use; closed when free
	spare   *spare                   // nil while there is none and none is made
	running sync.WaitGroup
	quit    chan struct{} // closed when the pool is
}

var errPoolClosed = errors.New("pool is closed")

// NewPool looks for a browser, finds out how far the kernel can confine it, and removes what an earlier,
// killed server left in RunDir, processes included. It starts no Chrome. A machine without any browser has a
// pool all the same, whose Open says so. ctx bounds only this call.
func NewPool(ctx context.Context, o Options) (*Pool, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Table == nil {
		table, err := cdp.Load()
		if err != nil {
			return nil, fmt.Errorf("load method table: %w", err)
		}
		o.Table = table
	}
	binary, err := Find(o.Binary)
	if err != nil && !errors.Is(err, ErrNoBrowser) {
		return nil, err
	}
	words, confinement := chooseNamespaces(ctx)
	if o.RequireConfinement && confinement.Mode != ByKernel {
		return nil, fmt.Errorf("confine Chrome: %s", confinement.Reason)
	}
	folder, err := openRunFolder(o.RunDir)
	if err != nil {
		return nil, err
	}
	if err := folder.sweep(ctx); err != nil {
		return nil, errors.Join(err, folder.close())
	}
	if o.Warm == 0 {
		o.Warm = defaultWarm
	}
	p := &Pool{
		options: o, log: o.Logger, binary: binary, folder: folder,
		words: words, confinement: confinement, patience: answerTimeout, seatWait: seatWait,
		slots: map[slotKey]*slot{}, seats: map[string]chan struct{}{}, quit: make(chan struct{}),
	}
	p.full = fullBeside(binary)
	p.warn(ctx)
	return p, nil
}

// warn tells the operator, at every start, what this machine does not give.
func (p *Pool) warn(ctx context.Context) {
	if p.binary.Path == "" {
		p.log.LogAttrs(ctx, slog.LevelWarn, "no browser found: managed sessions are unavailable")
	}
	if p.confinement.Mode != ByKernel {
		p.log.LogAttrs(ctx, slog.LevelWarn, "managed chrome is confined by flags only", slog.String("reason", p.confinement.Reason))
	}
	if isRoot() {
		p.log.LogAttrs(ctx, slog.LevelWarn, "managed chrome runs as root and so without its sandbox; run the server as an ordinary user")
	}
}

// Confinement tells how Chrome is kept from the network.
func (p *Pool) Confinement() Confinement { return p.confinement }

// Binary tells which browser the pool starts.
func (p *Pool) Binary() Binary { return p.binary }

// OpenOptions describe a session. Account, Session and Policy are required.
type OpenOptions struct {
	Account string
	Session string
	Policy  Policy
	Width   int // of new tabs' viewport, CSS pixels; 0 is 1280
	Height  int // 0 is 800
	// Profile is the id of what the session's sign-ins are kept for, a file name; empty keeps nothing. A profile serves
	// one session at a time.
	Profile string
	// Permits judges the addresses of remembered tabs; nil permits all. What it refuses does not come back.
	Permits func(address string) bool
}

// Open starts a session: in a Chrome of the same account and policy if one runs, else in a new one. One that runs
// but does not answer within 10 s is ended, and another started. With a Profile it gets a Chrome of its own, in which the
// remembered tabs are there again. ctx bounds only the opening. Errors are *fault.Fault: unavailable where Chrome or egress could not be had,
// busy for a profile that is in use, bad_request for unusable options.
func (p *Pool) Open(ctx context.Context, o OpenOptions) (*Browser, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.Profile != "" {
		return p.openOnProfile(ctx, o)
	}
	if p.binary.Path == "" {
		return nil, fault.New(fault.Unavailable, "the server's machine has no browser for managed sessions",
			"Install chromium-headless-shell, Chromium, Chrome or Edge, or name one in CHAPERONE_CHROME, and start the server again.")
	}
	key := slotKey{account: o.Account, policy: o.Policy}
	b, err := p.openIn(ctx, key, o)
	if errors.Is(err, errDying) {
		b, err = p.openIn(ctx, key, o)
	}
	if err != nil {
		return nil, p.unavailable(ctx, err)
	}
	return b, nil
}

// errDying comes with a failure that is the end of the process: the next one may do.
var errDying = errors.New("browser is ending")

func (p *Pool) openIn(ctx context.Context, key slotKey, o OpenOptions) (*Browser, error) {
	s, err := p.acquire(ctx, key)
	if err != nil {
		return nil, err
	}
	b, err := s.proc.open(ctx, o)
	if err == nil {
		b.release = func() { p.release(key, s) }
		return b, nil
	}
	if s.proc.isEnding() {
		err = fmt.Errorf("%w: %w", errDying, err)
		select { // or the next one would be given the same process
		case <-s.proc.dead:
		case <-ctx.Done():
		}
	}
	p.release(key, s)
	return nil, err
}

const (
	maxViewport   = 8192
	defaultWidth  = 1280
	defaultHeight = 800
)

func (o *OpenOptions) complete() error {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	if o.Height == 0 {
		o.Height = defaultHeight
	}
	switch {
	case o.Account == "" || o.Session == "":
		return fault.New(fault.BadRequest, "a session needs an account and an id", "")
	case o.Policy != ReadOnly && o.Policy != Interactive:
		return fault.New(fault.BadRequest, "the policy is neither read_only nor interactive", "")
	case o.Profile != "" && (!isFileName(o.Profile) || !isFileName(o.Account)):
		return fault.New(fault.BadRequest, "that is no profile's id", "")
	case min(o.Width, o.Height) < 1 || max(o.Width, o.Height) > maxViewport:
		return fault.New(fault.BadRequest, "the viewport is too small or too large", "Ask for 1 to 8192 pixels each way.")
	}
	return nil
}

// unavailable keeps the reason for the log: it may name paths, which are not the outside's business.
func (p *Pool) unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if told, ok := errors.AsType[*fault.Fault](err); ok {
		return told
	}
	p.log.LogAttrs(ctx, slog.LevelError, "managed session did not open", slog.Any("error", err))
	return fault.New(fault.Unavailable, "a managed browser could not be started", "Try again; chaperone doctor tells what the machine lacks.")
}
