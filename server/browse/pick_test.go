package browse_test

import (
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestWhatAnActionNamesIsFoundByItsOwnProgram(t *testing.T) {
	c, script, at := hostile(t, map[string]string{
		"/":       `<button onclick="document.title = 'outer'">Go</button><input aria-label="City"><iframe src="{OTHER}/inside" width="300" height="200"></iframe>`,
		"/inside": `<button onclick="top.postMessage('inner', '*')">Inside</button><button>Go</button>`,
	})
	d := drive(t, c, script, browse.Options{})
	d.at = at
	d.open("")
	d.page(`addEventListener("message", (e) => { document.title = e.data })`)
	for action, title := range map[string]string{
		`{"action":"click","role":"button","name":"Inside"}`:          "inner",
		`{"action":"click","role":"button","name":"Go","nth":0}`:      "outer",
		`{"action":"fill","role":"textbox","name":"City","text":"x"}`: "",
	} {
		d.page(`document.title = ""`)
		before := d.tab.runs
		r := d.do(action)
		if d.tab.runs != before+1 || r.Title != title {
			t.Errorf("%s: %d programs, %q", action, d.tab.runs-before, r.Title)
		}
	}
	f := d.refused(`{"action":"click","role":"button","name":"Go"}`, fault.Ambiguous)
	if strings.Count(f.Detail, `button "Go" [ref=`) != 2 || !strings.Contains(f.Hint, "nth") {
		t.Errorf("%+v", f)
	}
	_ = d.refused(`{"action":"click","role":"button","name":"Stop"}`, fault.NotFound)
	_ = d.refused(`{"action":"click","role":"button","name":"Go","nth":2}`, fault.NotFound)
}
