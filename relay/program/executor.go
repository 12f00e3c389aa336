package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"chaperone/relay/cdp"
)

// Target sends one CDP command to the tab's page target or, with child not empty, to the child target session of
// that name, and waits for the reply. Replies and events come in the order in which the browser sent them: an
// event that came before a reply has been delivered before Call returns.
//
// A command that the browser refused is a *CallError; any other error means that the tab cannot be reached, and a
// *Error among them is told as it is (tab_closed, …). Call returns when ctx ends, whether the browser answered or not.
type Target interface {
	Call(ctx context.Context, child, method string, params json.RawMessage) (json.RawMessage, error)
}

// CallError is the browser's own refusal of a CDP command.
type CallError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *CallError) Error() string { return fmt.Sprintf("browser refused (%d): %s", e.Code, e.Message) }

// Options of an executor; all are required.
type Options struct {
	// PageScript is the source that defines globalThis.chaperone in an isolated world.
	PageScript string
	Level      Level
	Table      *cdp.Table
}

// Executor runs programs in one tab, one after the other. It is safe for concurrent use.
type Executor struct {
	target  Target
	options Options
	view    *view
	turn    chan struct{} // holds one token: whoever has it runs

	// Whoever has the turn has these.
	isHearing bool  // the page tells of its requests
	acted     place // the frame, other than the main one, that the program last acted in
}

// NewExecutor makes an executor for one tab. Attach comes before the first Run.
func NewExecutor(t Target, o Options) *Executor {
	e := &Executor{
		target:  t,
		options: o,
		view:    newView(func(event string) bool { return o.Table.Event(string(o.Level), event).Allowed() }),
		turn:    make(chan struct{}, 1),
	}
	e.turn <- struct{}{}
	return e
}

// Attach makes the tab tell what the executor must know: page events, cross-site frames, and a page that keeps
// running when nobody looks at it. Events must be delivered from before it is called. It may be called again
// after the debugger was attached anew.
func (e *Executor) Attach(ctx context.Context) error {
	if err := e.take(ctx); err != nil {
		return fmt.Errorf("attach to tab: %w", err)
	}
	defer e.give()
	// Chrome announces a frame once; letting all go first makes it announce those that an earlier executor had.
	release := json.RawMessage(`{"autoAttach":false,"waitForDebuggerOnStart":false,"flatten":true}`)
	if _, err := e.target.Call(ctx, "", "Target.setAutoAttach", release); err != nil {
		return fmt.Errorf("attach to tab: %w", err)
	}
	e.view.forget()
	e.isHearing = false
	if err := e.enable(ctx, ""); err != nil {
		return fmt.Errorf("attach to tab: %w", err)
	}
	focus := json.RawMessage(`{"enabled":true}`)
	if _, err := e.target.Call(ctx, "", "Emulation.setFocusEmulationEnabled", focus); err != nil {
		return fmt.Errorf("attach to tab: %w", err)
	}
	tree, err := e.frameTree(ctx, "")
	if err != nil {
		return fmt.Errorf("attach to tab: %w", err)
	}
	e.view.setMain(tree.Frame.ID, tree.Frame.URL)
	return nil
}

// enable asks one target session for its events and its cross-site frames, and puts the page script before the scripts
// of its documents to come.
func (e *Executor) enable(ctx context.Context, child string) error {
	if _, err := e.target.Call(ctx, child, "Page.enable", json.RawMessage(`{}`)); err != nil {
		return fmt.Errorf("enable page events: %w", err)
	}
	script, err := encode(map[string]any{"source": e.options.PageScript, "worldName": worldName})
	if err != nil {
		return err
	}
	if _, err := e.target.Call(ctx, child, "Page.addScriptToEvaluateOnNewDocument", script); err != nil {
		return fmt.Errorf("put page script into documents to come: %w", err)
	}
	frames := json.RawMessage(`{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{"type":"iframe"}]}`)
	if _, err := e.target.Call(ctx, child, "Target.setAutoAttach", frames); err != nil {
		return fmt.Errorf("attach to frames: %w", err)
	}
	return nil
}

// Deliver tells one event of the tab; child is the target session it came from, empty for the page itself. It
// never blocks and calls nobody, so a transport's reader may call it.
func (e *Executor) Deliver(child, method string, params json.RawMessage) {
	e.view.apply(child, method, params)
}

// URL is the address of the main frame as far as events have told, without asking the browser.
func (e *Executor) URL() string { return e.view.url() }

// MainFrame is the CDP id of the main frame; empty before Attach.
func (e *Executor) MainFrame() string { return e.view.mainFrame() }

// Run runs a program once its turn has come and answers how it went; Result.Error says what ended it early.
// ctx ending stops it before its next step. It never panics, and leaves nothing running.
func (e *Executor) Run(ctx context.Context, p Program) Result {
	if err := Check(p, e.options.Level, e.options.Table); err != nil {
		return Result{Tab: p.Tab, Steps: []json.RawMessage{}, Error: err}
	}
	if err := e.take(ctx); err != nil {
		return Result{Tab: p.Tab, Steps: []json.RawMessage{}, Error: failed(beforeFirstStep, err)}
	}
	defer e.give()
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, milliseconds(p.DeadlineMS))
	defer cancel()

	e.acted = place{}
	e.view.begin(e.kept(p))
	minded := e.mindDialogs(ctx, cancel)
	result := e.steps(ctx, p)
	e.view.end()
	<-minded
	result.Dialogs = e.view.recorded()
	result.ElapsedMS = int(time.Since(start).Milliseconds())
	return result
}

func (e *Executor) steps(ctx context.Context, p Program) Result {
	result := Result{Tab: p.Tab, Steps: make([]json.RawMessage, 0, len(p.Steps))}
	if e.view.isHeldUpBefore() && !p.isAnswer() {
		result.Error = dialogOpen(beforeFirstStep)
		return result
	}
	hearsFrom := e.hearsFrom(p)
	for i, s := range p.Steps {
		if err := e.mayGoOn(ctx); err != nil {
			result.Error = e.late(failed(i, err))
			return result
		}
		if i == hearsFrom {
			e.hear(ctx)
		}
		if s.StopIf != nil {
			value, err := lookUp(s.StopIf.Path, result.Steps)
			if err != nil {
				result.Error = failed(i, fault(codeBadRequest, err.Error()))
				return result
			}
			result.Steps = append(result.Steps, nothing())
			if result.Stopped = isTruthy(value); result.Stopped {
				return result
			}
			continue
		}
		if s.If != nil && !holds(s.If.Path, result.Steps) {
			result.Steps = append(result.Steps, nothing())
			continue
		}
		value, err := e.step(ctx, s, result.Steps)
		if err != nil {
			result.Error = e.late(failed(i, errors.Join(e.heldUp(), err)))
			return result
		}
		result.Steps = append(result.Steps, value)
	}
	return result
}

// mayGoOn says what keeps a program from its next step.
func (e *Executor) mayGoOn(ctx context.Context) error {
	over := ctx.Err() // first: a dialog that holds the program up ends it too
	return errors.Join(e.heldUp(), over)
}

// heldUp is a *Error where a dialog stands in the way.
func (e *Executor) heldUp() error {
	if e.view.isHeldUp() {
		return dialogOpen(0)
	}
	return nil
}

// holds reports whether a path leads to something truthy.
func holds(path string, results []json.RawMessage) bool {
	value, err := lookUp(path, results)
	return err == nil && isTruthy(value)
}

func (e *Executor) step(ctx context.Context, s Step, results []json.RawMessage) (json.RawMessage, error) {
	var err error
	if s.Frame, err = frameOf(s.Frame, results); err != nil {
		return nil, fault(codeBadRequest, err.Error())
	}
	switch {
	case s.Call != "":
		params, err := resolve(s.Params, results)
		if err != nil {
			return nil, fault(codeBadRequest, err.Error())
		}
		if verdict := e.options.Table.Filled(s.Call, params); !verdict.Allowed() {
			return nil, fault(codeForbidden, verdict.Reason)
		}
		return e.command(ctx, s.Call, params)
	case s.Settle != nil:
		return e.settle(ctx, *s.Settle)
	case s.Await != nil:
		args, err := resolve(s.Await.Args, results)
		if err != nil {
			return nil, fault(codeBadRequest, err.Error())
		}
		return e.await(ctx, *s.Await, args)
	case s.Eval != nil:
		return e.eval(ctx, s)
	default:
		args, err := resolve(s.Args, results)
		if err != nil {
			return nil, fault(codeBadRequest, err.Error())
		}
		if err := e.awaitDocument(ctx); err != nil {
			return nil, err
		}
		return e.run(ctx, s, args)
	}
}

func (e *Executor) take(ctx context.Context) error {
	select {
	case <-e.turn:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *Executor) give() { e.turn <- struct{}{} }

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

func nothing() json.RawMessage { return json.RawMessage("null") }

func fault(code, message string) *Error { return &Error{Code: code, Message: message} }

// failed tells what ended a program at step i.
func failed(i int, err error) *Error {
	var own *Error
	var refused *CallError
	switch {
	case errors.As(err, &own):
		return &Error{Step: i, Code: own.Code, Message: own.Message, Detail: own.Detail}
	case errors.As(err, &refused):
		return &Error{Step: i, Code: codeInternal, Message: refused.Message}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Step: i, Code: codeTimeout, Message: "the program's time is up"}
	case errors.Is(err, context.Canceled):
		return &Error{Step: i, Code: codeTimeout, Message: "nobody waits for the program any more"}
	default:
		return &Error{Step: i, Code: codeUnavailable, Message: "the tab cannot be reached: " + err.Error()}
	}
}
