package browse_test

import (
	"strings"
	"testing"

	"chaperone/server/browse"
)

// However a text writes the ends of its lines, each is one: in a box and an editor a line, in a field of one line what
// pasting makes of it.
func TestLineEndsAreEnteredOnce(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	c := launch(t)
	for kind, end := range map[string]string{"line feeds": "\n", "carriage returns": "\r", "both": "\r\n"} {
		t.Run(kind, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			d.at = at
			text := strings.ReplaceAll("one\ntwo\n\nthree\n", "\n", end)
			for _, action := range []string{"fill", "type"} {
				d.open("corpus/case-57-type-any-script.html")
				d.holds(d.do(d.named(action, "textbox", "Box", map[string]any{"text": text})), "one\ntwo\n\nthree\n")
				d.says("c.value", "one\ntwo\n\nthree\n")
				r := d.do(d.named(action, "textbox", "Plain", map[string]any{"text": text}))
				if heldText(r.Value) != `"one two  three"` || len(warnings(r)) != 1 {
					t.Errorf("%s into one line: %s, %q", action, heldText(r.Value), r.Notices)
				}
				d.do(d.named("fill", "textbox", "Box", map[string]any{"text": ""}))
				long := strings.Repeat("line"+end, 300)
				d.do(d.named(action, "textbox", "Box", map[string]any{"text": long}))
				d.says("c.value.length", "1500")
			}
			d.open("input-editors.html")
			for _, name := range []string{"Plain", "Wrapping", "Model", "Paste only", "Chat"} {
				d.holds(d.fill(name, text), "one\ntwo\n\nthree\n")
			}
			d.says("lines.textContent", `["one","two","","three",""]`)
			d.says("pasted.textContent", "one\ntwo\n\nthree\n")
			d.open("input-editors.html")
			if r := d.do(d.named("type", "textbox", "Chat", map[string]any{"text": "one" + end + "two"})); heldText(r.Value) != "\"one\ntwo\"" || len(warnings(r)) > 0 {
				t.Errorf("typed into an editor: %s, %q", heldText(r.Value), r.Notices)
			}
			d.says("sent.textContent", "")
		})
	}
}
