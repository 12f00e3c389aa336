package browse

import (
	"strings"
	"unicode/utf8"

	"chaperone/server/fault"
)

// stroke is one key with the modifiers held meanwhile.
type stroke struct {
	key       string
	code      string
	text      string // what it enters; empty for keys that only act
	virtual   int    // Windows virtual key code
	modifiers int    // CDP's bits
	held      []stroke
}

// CDP's modifier bits (Input.dispatchKeyEvent).
const (
	alt = 1 << iota
	control
	meta
	shift
)

// strokes reads "Control+A Enter": strokes separated by spaces, modifiers joined by plus signs.
func strokes(keys string) ([]stroke, error) {
	words := strings.Fields(keys)
	if len(words) == 0 {
		return nil, missing("press needs keys")
	}
	all := make([]stroke, 0, len(words))
	for _, word := range words {
		s, err := readStroke(word)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func readStroke(word string) (stroke, error) {
	parts := strings.Split(word, "+")
	if strings.HasSuffix(word, "+") { // the plus key itself: "+", "Control++"
		parts = append(strings.FieldsFunc(word, func(r rune) bool { return r == '+' }), "+")
	}
	s, ok := keyNamed(parts[len(parts)-1])
	if !ok {
		return stroke{}, unknownKey(word)
	}
	for _, name := range parts[:len(parts)-1] {
		m, bit, ok := modifierNamed(name)
		if !ok {
			return stroke{}, unknownKey(word)
		}
		s.modifiers |= bit
		s.held = append(s.held, m)
	}
	if s.modifiers&(alt|control|meta) != 0 {
		s.text = ""
	}
	return s, nil
}

func unknownKey(word string) error {
	return fault.New(fault.BadRequest, "Unknown key "+quote(word), "Use names such as Enter, Tab, ArrowDown, a, Control+A.")
}

func modifierNamed(name string) (stroke, int, bool) {
	switch strings.ToLower(name) {
	case "alt", "option":
		return stroke{key: "Alt", code: "AltLeft", virtual: 18}, alt, true
	case "control", "ctrl":
		return stroke{key: "Control", code: "ControlLeft", virtual: 17}, control, true
	case "meta", "command", "cmd":
		return stroke{key: "Meta", code: "MetaLeft", virtual: 91}, meta, true
	case "shift":
		return stroke{key: "Shift", code: "ShiftLeft", virtual: 16}, shift, true
	}
	return stroke{}, 0, false
}

func keyNamed(name string) (stroke, bool) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && r != utf8.RuneError {
		return letter(r), true
	}
	for _, s := range namedKeys() {
		if strings.EqualFold(s.key, name) || strings.EqualFold(s.code, name) {
			return s, true
		}
	}
	m, _, ok := modifierNamed(name)
	return m, ok
}

func letter(r rune) stroke {
	s := stroke{key: string(r), text: string(r)}
	upper := strings.ToUpper(s.key)
	switch {
	case upper >= "A" && upper <= "Z" && len(upper) == 1:
		s.code, s.virtual = "Key"+upper, int(upper[0])
	case r >= '0' && r <= '9':
		s.code, s.virtual = "Digit"+s.key, int(r)
	}
	return s
}

func namedKeys() []stroke {
	return []stroke{
		{key: "Enter", code: "Enter", text: "\r", virtual: 13},
		{key: "Tab", code: "Tab", virtual: 9},
		{key: "Escape", code: "Escape", virtual: 27},
		{key: "Backspace", code: "Backspace", virtual: 8},
		{key: "Delete", code: "Delete", virtual: 46},
		{key: " ", code: "Space", text: " ", virtual: 32},
		{key: "ArrowLeft", code: "ArrowLeft", virtual: 37},
		{key: "ArrowUp", code: "ArrowUp", virtual: 38},
		{key: "ArrowRight", code: "ArrowRight", virtual: 39},
		{key: "ArrowDown", code: "ArrowDown", virtual: 40},
		{key: "PageUp", code: "PageUp", virtual: 33},
		{key: "PageDown", code: "PageDown", virtual: 34},
		{key: "End", code: "End", virtual: 35},
		{key: "Home", code: "Home", virtual: 36},
		{key: "Insert", code: "Insert", virtual: 45},
		{key: "F1", code: "F1", virtual: 112},
		{key: "F2", code: "F2", virtual: 113},
		{key: "F5", code: "F5", virtual: 116},
		{key: "F10", code: "F10", virtual: 121},
	}
}
