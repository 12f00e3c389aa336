package browse

import (
	"encoding/json"
	"fmt"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// What a settle waits for: as long without a change as a person takes for done, once there was one, and not for ever.
const (
	quietMS  = 100
	settleMS = 5000
	idleMS   = 500
)

// absent is the index of a step that a plan does not have.
const absent = -1

// plan is a program under construction, and where in it the answers will stand.
type plan struct {
	program.Program
	err  error
	sent time.Time // when the program went out
	// forAddress tells what is waited for: an address, else a text; inFrames, that all frames may be asked for that.
	forAddress, inFrames bool

	// leaves tells that the page is left on purpose, answers that no dialog stays open.
	leaves, answers bool
	// patienceMS is how long an element that cannot be pressed yet is waited for; 0 is the page script's own.
	patienceMS int
	presses    []pressed
	// fetches tells that a download is wanted, and fetched is the one that came.
	fetches bool
	fetched *program.Download
	chosen  []int // where options of a page's own list were chosen
	kept    int   // where the page was asked whether it keeps what was set

	picked, awake, waited, navigate, locate, landed, settle, state, snapshot, base, far, text, scroll, value, shot, stop int
	answered, dropped, script                                                                                            int
	focus, toggling, toggled, selected                                                                                   int
}

func newPlan(tab string, a Action, limit time.Duration) *plan {
	p := &plan{Program: program.Program{Tab: tab, Active: a.Active, DeadlineMS: int(limit.Milliseconds())}}
	for _, at := range []*int{&p.picked, &p.awake, &p.waited, &p.navigate, &p.locate, &p.landed, &p.settle, &p.state, &p.snapshot, &p.base, &p.far, &p.text, &p.scroll, &p.value, &p.shot, &p.stop, &p.answered, &p.dropped, &p.script, &p.focus, &p.toggling, &p.toggled, &p.selected, &p.kept} {
		*at = absent
	}
	if a.TimeoutMS > 0 {
		p.patienceMS = a.TimeoutMS * 2 / 3 // the rest is for what follows
	}
	return p
}

// add appends a step and answers its index.
func (p *plan) add(s program.Step) int {
	p.Steps = append(p.Steps, s)
	return len(p.Steps) - 1
}

func (p *plan) raw(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("encode step: %w", err)
	}
	return raw
}

func (p *plan) run(name, frame string, args any) int {
	return p.add(program.Step{Run: name, Frame: frame, Args: p.raw(args)})
}

func (p *plan) runEach(name string, args any) int {
	return p.add(program.Step{Run: name, EachFrame: true, Args: p.raw(args)})
}

func (p *plan) call(method string, params any) int {
	return p.add(program.Step{Call: method, Params: p.raw(params)})
}

// settleFor waits for what the action began, and no longer than that. A page whose server has still not answered then
// cannot be asked anything: the program stops there.
func (p *plan) settleFor(quiet, most int) {
	p.settleBy(program.Settle{QuietMS: quiet, MaxMS: most, Begun: true})
	p.stop = p.add(program.Step{StopIf: &program.Ref{Path: fmt.Sprintf("%d.waiting", p.settle)}})
}

// stillFor waits until the document has not changed for a while, whoever changes it.
func (p *plan) stillFor(quiet, most int) { p.settleBy(program.Settle{QuietMS: quiet, MaxMS: most}) }

func (p *plan) settleBy(s program.Settle) {
	s.MaxMS = max(1, min(s.MaxMS, p.DeadlineMS*3/4))
	p.settle = p.add(program.Step{Settle: &s})
}

type object map[string]any

func from(step int, path string) program.Ref {
	return program.Ref{Path: fmt.Sprintf("%d.%s", step, path)}
}

// node is the page script's NodeRef.
func (e element) target() any {
	if e.picked > 0 {
		return from(e.picked-1, "target")
	}
	return object{"doc": e.doc, "node": e.node}
}

func (e element) expect() any {
	if e.picked > 0 {
		return from(e.picked-1, "expect")
	}
	return object{"role": e.role, "name": e.name}
}

// wake asks the page anything at all: one that does not answer would not let go of its tab either.
func (p *plan) wake() {
	const patience = 4000 // ms: a page that works for longer at one piece is as good as hung
	p.awake = p.add(program.Step{Await: &program.Await{Run: "@has_text", Args: p.raw(object{"url": "**"}), MaxMS: max(1, min(patience, p.DeadlineMS/3))}})
}

func (p *plan) open(url string) {
	p.leaves = true
	p.navigate = p.call("Page.navigate", object{"url": url})
	p.settleFor(quietMS, 2*settleMS)
}

func (p *plan) scrollBy(a Action, e *element) {
	args, frame := object{"to": a.Direction, "amount": a.Amount}, ""
	if a.Direction == "" {
		args["to"] = "node"
		if a.Amount != 0 {
			args["to"], args["amount"] = "down", a.Amount
		}
	}
	if e != nil {
		args["node"], frame = e.target(), e.frame
	}
	p.scroll = p.run("@scroll", frame, args)
	p.settleFor(quietMS, settleMS)
}

func (p *plan) wait(a Action) {
	most := p.DeadlineMS
	switch {
	case a.MS > 0:
		p.stillFor(a.MS, a.MS)
		return
	case a.Idle:
		p.stillFor(idleMS, most)
		return
	case a.text() != "":
		p.waitFor(object{"text": a.text()})
	default:
		p.forAddress = true
		p.waitFor(object{"url": a.URLGlob})
	}
	p.settleFor(quietMS, settleMS)
}

func (p *plan) waitFor(what object) {
	p.waited = p.add(program.Step{Await: &program.Await{
		Run: "@has_text", Args: p.raw(what), EachFrame: p.inFrames && !p.forAddress, MaxMS: max(1, p.DeadlineMS*9/10),
	}})
}

// look ends a plan: where the tab is now, and what of it was asked for.
func (p *plan) look(a Action, v view) {
	p.snapshotOf(v)
	isWhole := a.Action == "screenshot" && a.Full
	p.state = p.run("@state", "", object{"picture": isWhole})
	switch {
	case isWhole:
		p.wholePicture()
	case a.Action == "screenshot" || a.Screenshot:
		p.shot = p.call("Page.captureScreenshot", object{"format": "png"})
	}
}

// wholePicture shows as much of the page as the page script says that one picture can.
func (p *plan) wholePicture() {
	size := func(of string) program.Ref { return from(p.state, "picture."+of) }
	p.shot = p.call("Page.captureScreenshot", object{
		"format": "png", "captureBeyondViewport": true,
		"clip": object{"x": 0, "y": 0, "width": size("width"), "height": size("height"), "scale": 1},
	})
}

func tooLong(a Action) error {
	const most, mostText = 100_000, 256 << 10 // bytes; in a program a character may take six
	if len(a.text()) > mostText || len(a.URL) > most || len(a.Keys) > 1000 || len(a.Values) > 100 {
		return fault.New(fault.TooLarge, "The action is too large", "Send less text at once.")
	}
	return nil
}
