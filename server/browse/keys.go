package browse

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"chaperone/server/fault"
)

// stroke is one key with the modifiers held meanwhile.
type stroke struct {
	key       string
	code      string
	text      string // what it enters; empty for keys that only act
	virtual   int    // Windows virtual key code
	location  int    // 1 left, 2 right, 3 keypad; 0 for keys that are there once
	isKeypad  bool
	shifted   string // what it is with Shift; empty where that makes no difference
	bit       int    // CDP's bit, of a modifier
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

// mostKeyEvents bounds what one action presses, with the modifiers, so that it fits into a program.
const mostKeyEvents = 200

// strokes reads "Control+A Enter": strokes separated by spaces, modifiers joined by plus signs. Keys are named as in
// KeyboardEvent.key or KeyboardEvent.code, on a US keyboard.
func strokes(keys string) ([]stroke, error) {
	words := strings.Fields(keys)
	if len(words) == 0 {
		return nil, missing("press needs keys")
	}
	all := make([]stroke, 0, len(words))
	events := 0
	for _, word := range words {
		s, err := readStroke(word)
		if err != nil {
			return nil, err
		}
		if events += 2 + 2*len(s.held); events > mostKeyEvents {
			return nil, fault.New(fault.TooLarge, fmt.Sprintf("These are more than %d key events", mostKeyEvents), "Press fewer keys at once; enter text with type.")
		}
		all = append(all, s)
	}
	return all, nil
}

func readStroke(word string) (stroke, error) {
	names, last := cutModifiers(word)
	s, ok := keyNamed(last)
	if !ok {
		return stroke{}, unknownKey(word, last)
	}
	for _, name := range names {
		m, ok := modifierNamed(name)
		if !ok {
			return stroke{}, unknownKey(word, name)
		}
		s.modifiers |= m.bit
		s.held = append(s.held, m)
	}
	s = s.asHeld()
	if s.pastes() {
		return stroke{}, fault.New(fault.Forbidden, "Keys that paste are not permitted: they would take what the person copied", "Use fill or type with the text itself.")
	}
	return s, nil
}

// cutModifiers parts "Control+Shift+a"; the plus key itself is "+", with modifiers "Control++".
func cutModifiers(word string) (modifiers []string, key string) {
	if word == "+" {
		return nil, word
	}
	if before, isPlus := strings.CutSuffix(word, "++"); isPlus {
		return strings.Split(before, "+"), "+"
	}
	parts := strings.Split(word, "+")
	return parts[:len(parts)-1], parts[len(parts)-1]
}

// asHeld is the key as the modifiers make it: "A" is a with Shift, but Control+A is pressed without.
func (s stroke) asHeld() stroke {
	commands := s.modifiers&(alt|control|meta) != 0
	upper := s.shifted != "" && s.text == s.shifted
	switch {
	case s.shifted == "":
	case s.modifiers&shift != 0:
		s.key, s.text = s.shifted, s.shifted
	case upper && commands:
		s.key = strings.ToLower(s.key)
	case upper:
		s.modifiers |= shift
	}
	if commands {
		s.text = ""
	}
	return s
}

// pastes holds for the keys that take from the clipboard, which relay/cdp refuses too.
func (s stroke) pastes() bool {
	const keyV, keyInsert = 86, 45
	return s.virtual == keyV && s.modifiers&(control|meta) != 0 || s.virtual == keyInsert && s.modifiers&shift != 0
}

func unknownKey(word, name string) error {
	if strings.EqualFold(name, "Dead") || isMark(name) {
		return fault.New(fault.BadRequest, "A dead key cannot be pressed: "+quote(word), "Enter the finished character with type, such as é.")
	}
	return fault.New(fault.BadRequest, "Unknown key "+quote(word), "Use names such as Enter, Tab, ArrowDown, a, Control+A, + and Space; enter text with type.")
}

// isMark holds for what only changes another character.
func isMark(name string) bool {
	r, size := utf8.DecodeRuneInString(name)
	return name != "" && size == len(name) && unicode.In(r, unicode.M)
}

func modifierNamed(name string) (stroke, bool) {
	switch strings.ToLower(name) {
	case "alt", "option", "altleft":
		return stroke{key: "Alt", code: "AltLeft", virtual: 18, location: 1, bit: alt}, true
	case "control", "ctrl", "controlleft", "controlormeta":
		return stroke{key: "Control", code: "ControlLeft", virtual: 17, location: 1, bit: control}, true
	case "meta", "command", "cmd", "metaleft":
		return stroke{key: "Meta", code: "MetaLeft", virtual: 91, location: 1, bit: meta}, true
	case "shift", "shiftleft":
		return stroke{key: "Shift", code: "ShiftLeft", virtual: 16, location: 1, bit: shift}, true
	}
	return stroke{}, false
}

func keyNamed(name string) (stroke, bool) {
	if r, size := utf8.DecodeRuneInString(name); size == len(name) && r != utf8.RuneError && !isMark(name) {
		return letter(r), true
	}
	if m, ok := modifierNamed(name); ok {
		m.modifiers = m.bit
		return m, true
	}
	for _, s := range keyboard() {
		if strings.EqualFold(s.code, name) || s.text == "" && strings.EqualFold(s.key, name) {
			return s, true
		}
	}
	other := map[string]string{"return": "Enter", "esc": "Escape", "del": "Delete"}[strings.ToLower(name)]
	if other == "" {
		return stroke{}, false
	}
	return keyNamed(other)
}

// typedKey is the key of a US keyboard that enters the character, with Shift where it needs that.
func typedKey(r rune) (stroke, bool) {
	if r < ' ' || r > '~' {
		return stroke{}, false
	}
	return letter(r).asHeld(), true
}

// letter is the key that enters the character; one that is on no key enters it all the same.
func letter(r rune) stroke {
	text := string(r)
	for _, s := range keyboard() {
		switch {
		case s.isKeypad || s.text == "":
		case s.text == text:
			return s
		case s.shifted == text:
			s.key, s.text = text, text
			return s
		}
	}
	return stroke{key: text, text: text}
}
