package cdp

// notPaste stands in a rule for keys that may not paste: in a shared tab they would take what the person copied
// anywhere, and a script of the page could read it.
const notPaste = "paste"

// Chrome's own numbers: of keys on Windows, and of modifiers.
const (
	keyInsert     = 45
	keyV          = 86
	modifiersCtrl = 2 | 4 // Meta too
	modifierShift = 8
)

// refuseTogether says what is wrong with the parameters together, each of which the rule permits; nothing is when it is
// empty. given answers nil for a parameter that is not there.
func (r rule) refuseTogether(given func(name string) []byte) string {
	if r.Not == notPaste && pastes(given) {
		return "a key that pastes is not permitted"
	}
	if r.Not == notHuge && isHuge(given) {
		return reasonHugeView
	}
	return ""
}

// pastes reports whether a key event would paste, or may: what is only filled in later cannot be told.
func pastes(given func(name string) []byte) bool {
	for _, name := range []string{"key", "code"} {
		word, isText := short(given(name)).(string)
		if given(name) != nil && (!isText || word == "Paste") {
			return true
		}
	}
	key, isKey := whole(given("windowsVirtualKeyCode"))
	modifiers, isMask := whole(given("modifiers"))
	switch {
	case !isKey || !isMask:
		return true
	case key == keyV:
		return modifiers&modifiersCtrl != 0
	default:
		return key == keyInsert && modifiers&modifierShift != 0
	}
}

// whole is a parameter's number, 0 where there is none.
func whole(raw []byte) (int64, bool) {
	if raw == nil {
		return 0, true
	}
	number, ok := short(raw).(float64)
	return int64(number), ok && number == float64(int64(number))
}
