package extension_test

import (
	"fmt"
	"strings"
	"testing"
)

// Chrome adds the modifiers of a key to what is beyond the key's own number, so that a large number alone can be Ctrl+V.
func TestNoKeyPastesWhatThePersonCopied(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("document.body.innerHTML = '<textarea></textarea>'; 1")
	own := s.open(s.site.URL + "/own")
	own.eval("document.body.innerHTML = '<input value=copied>'; document.querySelector('input').select(); document.execCommand('copy')")
	s.must("", "Target.activateTarget", object{"targetId": s.tab.target}, nil)
	s.server.hold(s.name)
	s.server.evaluate(s.name, "document.querySelector('textarea').focus(); 1")
	for _, key := range []int{86, 45} {
		for _, high := range []int{0, 1, 2, 3, 4, 8, 0x100} {
			for _, modifiers := range []int{0, 2, 4, 8, 64} {
				s.presses(object{"type": "rawKeyDown", "windowsVirtualKeyCode": high<<16 | key, "modifiers": modifiers})
			}
		}
	}
	for _, params := range []object{
		{"code": "KeyV", "key": "v", "modifiers": 2},
		{"code": "Insert", "key": "Insert", "modifiers": 8},
		{"key": "Paste"},
		{"windowsVirtualKeyCode": 86 - 65536, "modifiers": 2},
	} {
		params["type"] = "rawKeyDown"
		s.presses(params)
	}
	s.server.mustRaw(s.name, "Input.dispatchKeyEvent", object{"type": "keyDown", "windowsVirtualKeyCode": 86, "key": "v", "text": "v"})
	if value := s.server.evaluate(s.name, "document.querySelector('textarea').value"); value != "v" {
		t.Errorf("the field has %q, want what was typed", value)
	}
}

// presses sends a key by both roads and looks that nothing was pasted.
func (s *sharing) presses(params object) {
	s.t.Helper()
	s.server.raw(s.name, "Input.dispatchKeyEvent", params)
	s.server.run("s_1", s.name, call("Input.dispatchKeyEvent", params))
	value := fmt.Sprint(s.server.evaluate(s.name, "document.querySelector('textarea').value"))
	if strings.Contains(value, "copied") {
		s.t.Errorf("%v pastes", params)
		s.server.evaluate(s.name, "document.querySelector('textarea').value = ''; 1")
	}
}
