package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"chaperone/demo"
)

// TestWhatChangedIsToldOfAPageThatNobodyLookedAt opens a page unseen, looks one thing up and acts on it.
func TestWhatChangedIsToldOfAPageThatNobodyLookedAt(t *testing.T) {
	t.Parallel()
	onBothRoads(t, func(r *road) {
		if opened := r.do(action{"action": "open", "url": r.site.URL + "/?unseen", "snapshot": "none"}); opened.Snapshot != nil {
			r.t.Errorf("none shows %s", opened.Snapshot.Text)
		}
		looked := r.do(action{"action": "snapshot", "role": "button", "name": "Count"})
		ref, err := demo.RefOf(looked.Snapshot.Text, "button", "Count")
		check(r.t, err)
		pressed := r.do(action{"action": "click", "ref": ref})
		if pressed.Snapshot == nil || pressed.Snapshot.Text != "- status: pressed 1" {
			r.t.Errorf("the click tells %+v", pressed.Snapshot)
		}
	})
}

// TestAnswersSayNothingTwice goes through a form by the command line, as an agent reads it.
func TestAnswersSayNothingTwice(t *testing.T) {
	t.Parallel()
	s := openSite(t)
	r := serve(t, "--test-origin", s.URL)
	r.policy("interactive")
	opened := r.must("browse", "--backend", "managed", "open", s.URL+"/form")
	refOf := func(role, name string) string {
		ref, err := demo.RefOf(opened, role, name)
		check(t, err)
		return ref
	}
	wants(t, "open", opened, "Form — "+s.URL+"/form\n")
	for _, words := range [][]string{{"fill", refOf("textbox", "City"), "Oslo"}, {"select", refOf("combobox", "Sort"), "Date"}} {
		if said := r.must(append([]string{"browse"}, words...)...); strings.TrimSpace(said) != "Done; the snapshot has no other change." {
			t.Errorf("%s says\n%s", words[0], said)
		}
	}
	wants(t, "the snapshot", r.must("browse", "snapshot"), `: Oslo`, `: Date`, s.URL+"/form")
	pressed := r.must("browse", "press", "a")
	bounded := regexp.MustCompile(`^<<<page ([\w-]{22})>>>\n(?s:(.*))\n<<<end ([\w-]{22})>>>\nChanges only\.\n$`).FindStringSubmatch(pressed)
	if bounded == nil || bounded[1] != bounded[3] || strings.Contains(pressed, s.URL) {
		t.Errorf("a key pressed where nothing else is news says\n%s", pressed)
	}
}
