package browse

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// What a settle waits for: as long without a change as a person takes for done, and not for ever.
const (
	quietMS   = 150
	settleMS  = 5000
	idleMS    = 500
	textLimit = 400_000 // characters of one frame's text that cross the link
)

// absent is the index of a step that a plan does not have.
const absent = -1

// plan is a program under construction, and where in it the answers will stand.
type plan struct {
	program.Program
	err  error
	sent time.Time // when the program went out
	// forAddress tells what is waited for: an address, else a text.
	forAddress bool

	awake, waited, navigate, locate, landed, settle, state, snapshot, text, scroll, value, shot, stop int
}

func newPlan(tab string, a Action, limit time.Duration) *plan {
	p := &plan{Program: program.Program{Tab: tab, Active: a.Active, DeadlineMS: int(limit.Milliseconds())}}
	for _, at := range []*int{&p.awake, &p.waited, &p.navigate, &p.locate, &p.landed, &p.settle, &p.state, &p.snapshot, &p.text, &p.scroll, &p.value, &p.shot, &p.stop} {
		*at = absent
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

func (p *plan) settleFor(quiet, most int) {
	p.settle = p.add(program.Step{Settle: &program.Settle{QuietMS: quiet, MaxMS: max(1, min(most, p.DeadlineMS*3/4))}})
}

type object map[string]any

func from(step int, path string) program.Ref {
	return program.Ref{Path: fmt.Sprintf("%d.%s", step, path)}
}

// node is the page script's NodeRef.
func (e element) target() object { return object{"doc": e.doc, "node": e.node} }

func (e element) expect() object { return object{"role": e.role, "name": e.name} }

// wake asks the page anything at all: one that does not answer would not let go of its tab either.
func (p *plan) wake() {
	const patience = 4000 // ms: a page that works for longer at one piece is as good as hung
	p.awake = p.add(program.Step{Await: &program.Await{Run: "@has_text", Args: p.raw(object{"url": "**"}), MaxMS: max(1, min(patience, p.DeadlineMS/3))}})
}

func (p *plan) open(url string) {
	p.navigate = p.call("Page.navigate", object{"url": url})
	p.settleFor(quietMS, 2*settleMS)
}

func (p *plan) click(e element) {
	p.locate = p.run("@locate", e.frame, object{"target": e.target(), "expect": e.expect()})
	x, y := from(p.locate, "x"), from(p.locate, "y")
	const mouse = "Input.dispatchMouseEvent"
	p.call(mouse, object{"type": "mouseMoved", "x": x, "y": y})
	p.call(mouse, object{"type": "mousePressed", "x": x, "y": y, "button": "left", "clickCount": 1})
	p.call(mouse, object{"type": "mouseReleased", "x": x, "y": y, "button": "left", "clickCount": 1})
	p.landed = p.run("@landed", e.frame, object{"doc": from(p.locate, "doc"), "at": from(p.locate, "at")})
	p.settleFor(quietMS, settleMS)
}

// fill gives the field the keyboard with all it holds selected, so that what is entered replaces it. A field
// that takes no typing is set by the page script, which says `done`: the plan stops there.
func (p *plan) fill(e element, text string) {
	focus := p.run("@focus", e.frame, object{"target": e.target(), "expect": e.expect(), "select": true, "set": text})
	p.stop = p.add(program.Step{StopIf: &program.Ref{Path: fmt.Sprintf("%d.done", focus)}})
	if text == "" {
		p.press(stroke{key: "Delete", code: "Delete", virtual: 46})
	} else {
		p.call("Input.insertText", object{"text": text})
	}
	p.readBack(e)
}

func (p *plan) readBack(e element) {
	p.settleFor(quietMS, settleMS)
	p.value = p.run("@value", e.frame, object{"target": e.target()})
}

func (p *plan) press(s stroke) {
	for _, m := range s.held {
		p.key("rawKeyDown", m, s.modifiers)
	}
	down := "rawKeyDown"
	if s.text != "" {
		down = "keyDown"
	}
	p.key(down, s, s.modifiers)
	p.key("keyUp", s, s.modifiers)
	for _, m := range slices.Backward(s.held) {
		p.key("keyUp", m, 0)
	}
}

func (p *plan) key(kind string, s stroke, modifiers int) {
	params := object{"type": kind, "key": s.key, "code": s.code, "windowsVirtualKeyCode": s.virtual, "modifiers": modifiers}
	if kind == "keyDown" {
		params["text"] = s.text
	}
	p.call("Input.dispatchKeyEvent", params)
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
		p.settleFor(a.MS, a.MS)
		return
	case a.Idle:
		p.settleFor(idleMS, most)
		return
	case a.Text != "":
		p.waitFor(object{"text": a.Text})
	default:
		p.forAddress = true
		p.waitFor(object{"url": a.URLGlob})
	}
	p.settleFor(quietMS, settleMS)
}

func (p *plan) waitFor(what object) {
	p.waited = p.add(program.Step{Await: &program.Await{Run: "@has_text", Args: p.raw(what), MaxMS: max(1, p.DeadlineMS*9/10)}})
}

// look ends a plan: where the tab is now, and what of it was asked for.
func (p *plan) look(a Action, budget int) {
	if budget > 0 {
		p.snapshot = p.runEach("@snapshot", object{"full": a.Full, "budget": budget})
	}
	p.state = p.run("@state", "", object{})
	switch {
	case a.Action == "screenshot" && a.Full:
		p.wholePicture()
	case a.Action == "screenshot" || a.Screenshot:
		p.shot = p.call("Page.captureScreenshot", object{"format": "png"})
	}
}

func (p *plan) wholePicture() {
	layout := p.call("Page.getLayoutMetrics", object{})
	size := func(of string) program.Ref { return from(layout, "cssContentSize."+of) }
	p.shot = p.call("Page.captureScreenshot", object{
		"format": "png", "captureBeyondViewport": true,
		"clip": object{"x": 0, "y": 0, "width": size("width"), "height": size("height"), "scale": 1},
	})
}

func tooLong(a Action) error {
	const most = 100_000
	if len(a.Text) > most || len(a.URL) > most || len(a.Keys) > 1000 || len(a.Values) > 100 {
		return fault.New(fault.TooLarge, "The action is too large", "Send less text at once.")
	}
	return nil
}
