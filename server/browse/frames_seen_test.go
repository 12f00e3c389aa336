package browse_test

import (
	"strings"
	"testing"

	"chaperone/server/browse"
)

func TestFramesThatNobodySeesAreNotShown(t *testing.T) {
	script, at := pageScript(t), site(t)
	d := drive(t, launch(t), script, browse.Options{})
	d.at = at
	d.open("hidden-frames.html")
	for _, seen := range []string{"Seen one", "Far below"} {
		if !strings.Contains(d.last, seen) {
			t.Errorf("%q is missing:\n%s", seen, d.last)
		}
	}
	for _, hidden := range []string{"Transparent", "Invisible", "Off the page", "A pixel", "None", "Deep", "Clipped"} {
		if strings.Contains(d.last, hidden) {
			t.Errorf("%q is shown:\n%s", hidden, d.last)
		}
	}
	if got := strings.Count(d.last, "- iframe"); got != 2 {
		t.Errorf("%d frames are listed, want 2:\n%s", got, d.last)
	}
}
