package browse

import (
	"fmt"
	"strconv"
	"strings"
)

// keyboard is a US keyboard, key by key.
func keyboard() []stroke {
	var all []stroke
	for r := 'a'; r <= 'z'; r++ {
		upper := strings.ToUpper(string(r))
		all = append(all, stroke{key: string(r), code: "Key" + upper, text: string(r), shifted: upper, virtual: int(upper[0])})
	}
	for i, shifted := range ")!@#$%^&*(" {
		digit := strconv.Itoa(i)
		all = append(all, stroke{key: digit, code: "Digit" + digit, text: digit, shifted: string(shifted), virtual: '0' + i})
	}
	all = append(all, signs()...)
	all = append(all, acting()...)
	for i := range 24 {
		name := fmt.Sprintf("F%d", i+1)
		all = append(all, stroke{key: name, code: name, virtual: 112 + i})
	}
	return append(all, keypad()...)
}

func enterKey() stroke { return stroke{key: "Enter", code: "Enter", text: "\r", virtual: 13} }

func signs() []stroke {
	sign := func(code, plain, shifted string, virtual int) stroke {
		return stroke{key: plain, code: code, text: plain, shifted: shifted, virtual: virtual}
	}
	return []stroke{
		sign("Backquote", "`", "~", 192), sign("Minus", "-", "_", 189), sign("Equal", "=", "+", 187),
		sign("BracketLeft", "[", "{", 219), sign("BracketRight", "]", "}", 221), sign("Backslash", `\`, "|", 220),
		sign("Semicolon", ";", ":", 186), sign("Quote", "'", `"`, 222), sign("Comma", ",", "<", 188),
		sign("Period", ".", ">", 190), sign("Slash", "/", "?", 191), sign("Space", " ", "", 32),
	}
}

// acting are the keys that enter nothing, and Enter.
func acting() []stroke {
	right := func(key, code string, virtual, bit int) stroke {
		return stroke{key: key, code: code, virtual: virtual, location: 2, modifiers: bit}
	}
	named := map[string]int{
		"Tab": 9, "Escape": 27, "Backspace": 8, "Delete": 46, "Insert": 45, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34,
		"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "CapsLock": 20, "NumLock": 144, "ScrollLock": 145,
		"Pause": 19, "PrintScreen": 44, "ContextMenu": 93, "AudioVolumeMute": 173, "AudioVolumeDown": 174, "AudioVolumeUp": 175,
		"MediaTrackNext": 176, "MediaTrackPrevious": 177, "MediaStop": 178, "MediaPlayPause": 179,
	}
	all := make([]stroke, 0, 5+len(named))
	all = append(all,
		enterKey(), right("Shift", "ShiftRight", 16, shift), right("Control", "ControlRight", 17, control),
		right("Alt", "AltRight", 18, alt), right("Meta", "MetaRight", 92, meta),
	)
	for name, virtual := range named {
		all = append(all, stroke{key: name, code: name, virtual: virtual})
	}
	return all
}

func keypad() []stroke {
	var all []stroke
	for i := range 10 {
		digit := strconv.Itoa(i)
		all = append(all, stroke{key: digit, code: "Numpad" + digit, text: digit, virtual: 96 + i, location: 3, isKeypad: true})
	}
	sign := func(code, text string, virtual int) stroke {
		return stroke{key: text, code: code, text: text, virtual: virtual, location: 3, isKeypad: true}
	}
	enter := enterKey()
	enter.code, enter.location, enter.isKeypad = "NumpadEnter", 3, true
	return append(all, enter, sign("NumpadMultiply", "*", 106), sign("NumpadAdd", "+", 107), sign("NumpadSubtract", "-", 109),
		sign("NumpadDecimal", ".", 110), sign("NumpadDivide", "/", 111))
}
