package browse

import (
	"fmt"
	"slices"

	"chaperone/relay/program"
)

// onlyIf makes the steps that add adds depend on what a step will answer.
func (p *plan) onlyIf(step int, path string, add func()) {
	first := len(p.Steps)
	add()
	for i := range p.Steps[first:] {
		p.Steps[first+i].If = &program.Ref{Path: fmt.Sprintf("%d.%s", step, path)}
	}
}

// focus gives an element the keyboard, or asks who has it, and watches whether what follows comes to it.
func (p *plan) focusOn(e *element, more object) int {
	if e == nil {
		return p.run("@focus", "", more)
	}
	more["target"], more["expect"] = e.target(), e.expect()
	return p.run("@focus", e.frame, more)
}

// fill gives the field the keyboard with all it holds selected, so that what is entered replaces it. The page script
// knows what kind of field it is, and says whether there is something left to enter. The text crosses the link once.
func (p *plan) fill(e element, text string) {
	p.focus = p.focusOn(&e, object{"fill": text})
	p.selectDrawn()
	p.onlyIf(p.focus, "enter", func() { p.call("Input.insertText", object{"text": from(p.focus, "enter")}) })
	p.onlyIf(p.focus, "clear", func() { p.press(stroke{key: "Delete", code: "Delete", virtual: 46}) })
	p.onlyIf(p.focus, "editor", func() { p.run("@entered", e.frame, object{"doc": from(p.focus, "doc")}) })
	p.settleFor(quietMS, settleMS)
	p.readBack(&e, object{})
}

// selectDrawn has an editor that draws its text itself select it, which only its own keys can: the page script says
// with which modifier.
func (p *plan) selectDrawn() {
	for _, name := range []string{"Control", "Meta"} {
		held, _ := modifierNamed(name)
		all := stroke{key: "a", code: "KeyA", virtual: 'A', modifiers: held.bit, held: []stroke{held}}
		p.onlyIf(p.focus, "all"+name, func() { p.press(all) })
	}
}

// readBack asks what the field holds now: the one named, or the one that has the keyboard.
func (p *plan) readBack(e *element, args object) {
	frame := ""
	args["at"] = from(p.focus, "at")
	if e != nil {
		frame = e.frame
		args["target"] = e.target()
	}
	p.value = p.run("@value", frame, args)
}

// mostTyped is how many characters are typed one by one; more are entered at once, as by an input method.
const mostTyped = 50

// typeText types as a keyboard does, so that a page sees its keys; what no key has is entered as it is. Several lines are
// entered at once: by themselves line ends are none in a field of one line, and lead the caret astray in some editors.
func (p *plan) typeText(e *element, text string) {
	if runes := []rune(text); len(runes) > mostTyped || slices.Contains(runes, '\n') {
		p.focus = p.focusOn(e, object{"insert": text})
		p.onlyIf(p.focus, "enter", func() { p.call("Input.insertText", object{"text": from(p.focus, "enter")}) })
	} else {
		p.focus = p.focusOn(e, object{})
		p.typeEach(runes)
	}
	p.settleFor(quietMS, settleMS)
	p.readBack(e, object{"typed": text})
}

func (p *plan) typeEach(runes []rune) {
	for len(runes) > 0 {
		if s, isKey := typedKey(runes[0]); isKey {
			p.press(s)
			runes = runes[1:]
			continue
		}
		end := slices.IndexFunc(runes, func(r rune) bool { _, isKey := typedKey(r); return isKey })
		if end < 0 {
			end = len(runes)
		}
		p.call("Input.insertText", object{"text": string(runes[:end])})
		runes = runes[end:]
	}
}

// pressKeys presses keys where the keyboard is, or at an element.
func (p *plan) pressKeys(e *element, all []stroke) {
	p.focus = p.focusOn(e, object{})
	for _, s := range all {
		p.press(s)
	}
	p.settleFor(quietMS, settleMS)
	if e != nil {
		p.readBack(e, object{})
	}
}

func (p *plan) press(s stroke) {
	mask := 0
	for _, m := range s.held {
		mask |= m.bit
		p.key("rawKeyDown", m, mask)
	}
	down := "rawKeyDown"
	if s.text != "" {
		down = "keyDown"
	}
	p.key(down, s, s.modifiers)
	p.key("keyUp", s, s.modifiers)
	for _, m := range slices.Backward(s.held) {
		mask &^= m.bit
		p.key("keyUp", m, mask)
	}
}

func (p *plan) key(kind string, s stroke, modifiers int) {
	params := object{"type": kind, "key": s.key, "code": s.code, "windowsVirtualKeyCode": s.virtual, "modifiers": modifiers}
	if kind == "keyDown" {
		params["text"] = s.text
	}
	if s.location != 0 {
		params["location"] = s.location
	}
	if s.isKeypad {
		params["isKeypad"] = true
	}
	p.call("Input.dispatchKeyEvent", params)
}

// pressOn presses what a step names, if it names something.
func (p *plan) pressOn(frame string, step int, path string) int {
	at := absent
	p.onlyIf(step, path, func() {
		p.mouse("mouseMoved", p.run("@locate", frame, object{"target": from(step, path), "glance": true}), nil)
		at = p.run("@locate", frame, object{"target": from(step, path)})
		p.clickAt(at, "left", 1)
	})
	return at
}

// toggle presses a box unless it is as it should be.
func (p *plan) toggle(e element, on bool) {
	p.toggling = p.run("@toggle", e.frame, object{"target": e.target(), "expect": e.expect(), "on": on})
	p.locate = p.pressOn(e.frame, p.toggling, "press")
	p.settleFor(quietMS, settleMS)
	p.onlyIf(p.toggling, "press", func() { p.landed = p.hasLanded(e, p.locate, "click") })
	p.toggled = p.run("@toggled", e.frame, object{"target": from(p.toggling, "target"), "on": on})
}

// choose sets a native list at once. One that the page made is opened, and each option is looked for and pressed.
func (p *plan) choose(e element, values []string) {
	p.selected = p.run("@select", e.frame, object{"target": e.target(), "expect": e.expect(), "values": values})
	last := min(len(values), mostChosen) - 1
	for _, value := range values[:last] {
		p.isChosen(e, value, p.pressOption(e, value))
	}
	at := p.pressOption(e, values[last])
	p.settleFor(quietMS, settleMS)
	p.isChosen(e, values[last], at)
	p.onlyIf(p.selected, "done", func() {
		p.kept = p.run("@chosen", e.frame, object{"target": e.target(), "values": values, "set": true})
	})
}

// mostChosen is how many options of a page's own list one action presses.
const mostChosen = 10

// pressOption opens the list and presses one option; it answers where that was located.
func (p *plan) pressOption(e element, value string) int {
	var open, option int
	p.onlyIf(p.selected, "aria", func() { open = p.run("@popup", e.frame, object{"target": e.target(), "value": value}) })
	p.pressOn(e.frame, open, "press")
	p.onlyIf(p.selected, "aria", func() {
		option = p.run("@option", e.frame, object{"target": e.target(), "value": value})
	})
	p.onlyIf(option, "shut", func() { p.press(stroke{key: "Escape", code: "Escape", virtual: 27}) })
	p.onlyIf(option, "missing", func() {
		p.run("@chosen", e.frame, object{"target": e.target(), "values": []string{value}, "missing": true})
	})
	return p.pressOn(e.frame, option, "press")
}

// isChosen asks what became of the option that was pressed.
func (p *plan) isChosen(e element, value string, located int) {
	p.onlyIf(located, "at", func() {
		args := object{"target": e.target(), "values": []string{value}, "doc": from(located, "doc"), "at": from(located, "at")}
		p.chosen = append(p.chosen, p.run("@chosen", e.frame, args))
	})
}
