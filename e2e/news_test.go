package e2e_test

import (
	"strings"
	"testing"
)

// What a click brings about is told in its answer, on both roads and where no element of the snapshot says it.
func TestPlainTextThatAClickBringsIsTold(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		r.act(r.session, action{"action": "open", "url": r.site.URL + "/toast"})
		clicked := r.act(r.session, action{"action": "click", "role": "button", "name": "Save"})
		if clicked.Snapshot == nil {
			r.t.Fatalf("the answer to the click is %+v", clicked)
		}
		if text := clicked.Snapshot.Text; !strings.Contains(text, "text: Saved successfully") || strings.Contains(text, "Nothing") {
			r.t.Errorf("the answer to the click is %q", text)
		}
	})
}
