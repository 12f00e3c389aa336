package browse

import (
	"context"
	"sync"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// Browser is one session's browser as browse sees it: shared tabs through the relay, or tabs of a managed
// Chrome.
type Browser interface {
	// Run has the program run and answers what came of it. Its error is a *program.Error with a code of
	// the contract, or the context's.
	Run(ctx context.Context, p program.Program) (program.Result, error)
	// Tabs are the tabs this session may use, the oldest first.
	Tabs() []program.Tab
}

// defaultTimeout bounds an action whose sender set no limit: the contract's CHAPERONE_ACTION_TIMEOUT.
const defaultTimeout = 30 * time.Second

// maxTimeout is the most a sender may ask for.
const maxTimeout = 5 * time.Minute

// Options are a session's rules. The zero value permits everything an interactive project does.
type Options struct {
	// ReadOnly refuses every action that writes, before the browser is touched.
	ReadOnly bool
	// AllowDomains limits where the main frame may be: "example.com" is that host alone, "*.example.com"
	// also every host beneath it. Empty: everywhere.
	AllowDomains []string
	// RefusePrivate refuses to open literal loopback, private and other special addresses, but for TestOrigins.
	RefusePrivate bool
	// TestOrigins are exact origins ("http://127.0.0.1:8080") that RefusePrivate leaves alone.
	TestOrigins []string
	// CheckURL judges an address further, before open; its error is shown as url_refused unless it is a fault.
	CheckURL func(string) error
	// Timeout bounds an action; 0 is 30 s.
	Timeout time.Duration
}

// Engine is one session's browse tool. It holds the session's refs, its selected tab and what it was last
// shown. Do may be called from several goroutines; actions run one after the other.
type Engine struct {
	browser Browser
	options Options

	// turn is held by the action that runs; it guards everything below.
	turn     chan struct{}
	refs     *refs
	seen     map[string]page
	selected string
	once     sync.Once
}

// New makes the engine of one session. Nothing has to be closed.
func New(b Browser, o Options) *Engine {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Engine{browser: b, options: o, turn: make(chan struct{}, 1), refs: newRefs(), seen: map[string]page{}}
}

// Do runs one action. Its error is always a *fault.Fault.
func (e *Engine) Do(ctx context.Context, a Action) (Result, error) {
	return Result{}, fault.New(fault.Unavailable, "not built", "")
}
