package browse

import (
	"encoding/json"
	"maps"

	"chaperone/relay/program"
)

const mouseEvent = "Input.dispatchMouseEvent"

// pressed is where in a plan a mouse button is down: from one step to another, at what a third located.
type pressed struct {
	down, up, at int
	button       string
	count        int
}

// heldSince is the mouse button that is down where a program was interrupted, or nil.
func (p *plan) heldSince(ran program.Result) *press {
	if ran.Error == nil {
		return nil
	}
	for _, m := range p.presses {
		if m.down > ran.Error.Step || ran.Error.Step >= m.up || m.at >= len(ran.Steps) {
			continue
		}
		held := &press{button: m.button, count: m.count}
		if json.Unmarshal(ran.Steps[m.at], held) == nil {
			return held
		}
	}
	return nil
}

// aim locates an element for a purpose of the page script's.
func (p *plan) aim(e element, more object) int {
	args := object{"target": e.target(), "expect": e.expect()}
	if p.patienceMS > 0 {
		args["wait_ms"] = p.patienceMS
	}
	maps.Copy(args, more)
	return p.run("@locate", e.frame, args)
}

// mouse sends a mouse event to what a step located.
func (p *plan) mouse(kind string, at int, more object) int {
	params := object{"type": kind, "x": from(at, "x"), "y": from(at, "y")}
	maps.Copy(params, more)
	return p.call(mouseEvent, params)
}

// press presses a button at what a step located and lets go there.
func (p *plan) clickAt(at int, button string, count int) {
	how := object{"button": button, "clickCount": count}
	down := p.mouse("mousePressed", at, how)
	up := p.mouse("mouseReleased", at, how)
	p.presses = append(p.presses, pressed{down: down, up: up, at: at, button: button, count: count})
}

func (p *plan) hasLanded(e element, located int, purpose string) int {
	return p.run("@landed", e.frame, object{"doc": from(located, "doc"), "at": from(located, "at"), "purpose": purpose})
}

// click presses as often as it says: the second press of two is what makes it a double click. The element is looked for once
// more when the pointer is over it: the page may move it by that, or lay something over it.
func (p *plan) click(a Action, e element) {
	button := a.Button
	if button == "" {
		button = "left"
	}
	p.mouse("mouseMoved", p.aim(e, object{"glance": true}), nil)
	p.locate = p.aim(e, menu(button))
	for n := range max(1, a.Count) {
		p.clickAt(p.locate, button, n+1)
	}
	p.settleFor(quietMS, settleMS)
	p.landed = p.hasLanded(e, p.locate, "click")
}

// menu has the page script keep the browser's own menu away from a right click.
func menu(button string) object {
	if button == "right" {
		return object{"menu": true}
	}
	return nil
}

func (p *plan) hover(e element) {
	p.locate = p.aim(e, object{"purpose": "hover"})
	p.mouse("mouseMoved", p.locate, nil)
	p.settleFor(quietMS, settleMS)
	p.landed = p.hasLanded(e, p.locate, "hover")
}

// drag brings the target into view first and then what is dragged, and looks once more where the target stands then:
// both must be in view at once. The page sees the pointer go over the target more than once, as with a hand.
func (p *plan) drag(e, to element, side string) {
	drop := object{"purpose": "drop"}
	if side != "" {
		drop["side"] = side
	}
	p.aim(to, drop)
	p.locate = p.aim(e, object{"purpose": "drag"})
	drop["stay"] = true
	target := p.aim(to, drop)
	held := object{"button": "left", "buttons": 1}
	p.mouse("mouseMoved", p.locate, nil)
	down := p.mouse("mousePressed", p.locate, object{"button": "left", "buttons": 1, "clickCount": 1})
	for range 3 {
		p.mouse("mouseMoved", target, held)
	}
	up := p.mouse("mouseReleased", target, object{"button": "left", "clickCount": 1})
	p.presses = append(p.presses, pressed{down: down, up: up, at: target, button: "left", count: 1})
	p.settleFor(quietMS, settleMS)
	p.landed = p.hasLanded(e, p.locate, "drag")
	p.dropped = p.hasLanded(to, target, "drop")
}
