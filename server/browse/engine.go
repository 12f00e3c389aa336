package browse

import (
	"context"
	"fmt"
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

// maxTimeout is the most a sender may ask for: as long as a program may run.
const maxTimeout = program.MaxDeadlineMS * time.Millisecond

// maxPause is the longest wait for time alone, so that the settle it becomes fits into a program.
const maxPause = maxTimeout / 2

// Options are a session's rules. The zero value permits everything an interactive project does.
type Options struct {
	// ReadOnly refuses every action that writes, before the browser is touched.
	ReadOnly bool
	// AllowDomains limits where the main frame may be: "example.com" is that host alone, "*.example.com"
	// also every host beneath it. Empty: everywhere.
	AllowDomains []string
	// CheckURL judges an address further, before open; its error is shown as url_refused unless it is a fault.
	CheckURL func(string) error
	// Timeout bounds an action; 0 is 30 s.
	Timeout time.Duration
	// Selected is the tab that is selected at first; empty: the first there is.
	Selected string
	// DialogPatience is how long a dialog of an interactive session may stand unanswered; 0 is 60 s.
	DialogPatience time.Duration
}

// Engine is one session's browse tool. It holds the session's refs, its selected tab and what it was last
// shown. Do may be called from several goroutines; actions run one after the other.
type Engine struct {
	browser Browser
	options Options

	// turn holds one token: the action that has it runs, and it guards everything below.
	turn     chan struct{}
	refs     *refs
	cursors  *cursors
	seen     map[string]page   // by tab
	stands   map[string]string // by tab: the address last told
	titles   map[string]string // by tab: the title last told
	failed   map[string]string // by tab: the address that did not load, where the browser's own page stands instead
	waits    map[string]bool   // by tab: another document is on its way there
	blind    map[string]bool   // by tab: something was done that was not shown
	found    map[string]found  // by tab: what was last shown of it by itself
	told     place             // where the last answer stood
	dialogs  dialogs
	selected string
}

// New makes the engine of one session. Nothing has to be closed.
func New(b Browser, o Options) *Engine {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	o.Timeout = min(o.Timeout, maxTimeout)
	if o.DialogPatience <= 0 {
		o.DialogPatience = dialogPatience
	}
	e := &Engine{
		browser: b, options: o, turn: make(chan struct{}, 1), refs: newRefs(), cursors: newCursors(),
		seen: map[string]page{}, stands: map[string]string{}, titles: map[string]string{}, failed: map[string]string{}, waits: map[string]bool{}, blind: map[string]bool{}, found: map[string]found{}, dialogs: dialogs{open: map[string]*standing{}}, selected: o.Selected,
	}
	e.turn <- struct{}{}
	return e
}

// Do runs one action. Its error is always a *fault.Fault.
func (e *Engine) Do(ctx context.Context, a Action) (Result, error) {
	if err := e.permit(a); err != nil {
		return Result{}, fault.Of(err)
	}
	select {
	case <-e.turn:
		defer func() { e.turn <- struct{}{} }()
	case <-ctx.Done():
		return Result{}, fault.New(fault.Busy, "Another action of this session is still running", "Wait for its answer.")
	}
	start := time.Now()
	result, err := e.act(ctx, a)
	if err != nil {
		return Result{}, fault.Of(err)
	}
	e.tellMissed(&result)
	e.place(a, &result)
	e.refs.tell(result.Snapshot)
	result.Action, result.Deliver = a.Action, a.Deliver
	result.ElapsedMS = int(time.Since(start).Milliseconds())
	return result, nil
}

// permit refuses, before the browser is touched, what policy or the action itself rules out.
func (e *Engine) permit(a Action) error {
	switch a.Kind() {
	case Unknown:
		return fault.New(fault.BadRequest, "Unknown action "+quote(a.Action), "See the list of actions.")
	case Writes:
		if e.options.ReadOnly {
			return readOnly(a)
		}
	case Reads:
	}
	if err := a.check(); err != nil {
		return err
	}
	return tooLong(a)
}

func readOnly(a Action) error {
	what := a.Action + " is not permitted"
	if a.Action == "click" {
		what = "only a plain click is permitted"
	}
	return fault.New(fault.ReadOnlyRefused, "The project is read-only: "+what, "Ask the person to make the project interactive, which ends this session.")
}

func (e *Engine) act(ctx context.Context, a Action) (Result, error) {
	switch a.Action {
	case "tabs", "status":
		return e.overview(), nil
	case "select_tab":
		return e.selectTab(a.Tab)
	case "close_tab":
		return e.closeTab(ctx, a.Tab)
	}
	tab, err := e.tabFor(a)
	if err != nil {
		return Result{}, err
	}
	limit := e.limit(a)
	ctx, cancel := context.WithTimeout(ctx, limit+answerGrace)
	defer cancel()
	job, err := e.prepare(ctx, a, job{tab: tab, limit: limit, began: time.Now(), action: a, moved: e.hasMoved(tab)})
	if err != nil {
		return Result{}, e.pointOut(ctx, a, job, err)
	}
	result, err := e.carryOut(ctx, job)
	return result, e.pointOut(ctx, a, job, err)
}

// answerGrace is how much later than the program's own deadline its answer may come over the link.
const answerGrace = 5 * time.Second

func (e *Engine) limit(a Action) time.Duration {
	if a.TimeoutMS == 0 {
		return max(e.options.Timeout, 2*time.Duration(a.MS)*time.Millisecond)
	}
	return time.Duration(max(a.TimeoutMS, 2*a.MS)) * time.Millisecond // a pause is no slowness of the page's
}

// send runs a program and answers its result; a program that a step ended is a *program.Error beside it.
func (e *Engine) send(ctx context.Context, p *plan) (program.Result, error) {
	if p.err != nil {
		return program.Result{}, p.err
	}
	p.sent = time.Now()
	p.KeepDialogs = e.kept(p)
	result, err := e.runIn(ctx, p)
	e.noteDialogs(p, result)
	e.noteWaiting(p.Tab, result)
	if err != nil {
		return result, fmt.Errorf("run program: %w", err)
	}
	if result.Error != nil {
		return result, stood(result)
	}
	stopped := result.Stopped && p.stop != absent && len(result.Steps) == p.stop+1
	if len(result.Steps) != len(p.Steps) && !stopped {
		return result, fmt.Errorf("run program: %w", errShort)
	}
	return result, nil
}
