package e2e_test

import (
	"testing"

	"chaperone/demo"
)

// TestAResultOfAPostIsNotPostedAgain has a person send a form and then share the tab: going back to what came, or loading it anew,
// sends nothing.
func TestAResultOfAPostIsNotPostedAgain(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	for name, again := range map[string]string{
		"back in history":              "history.back()",
		"reload":                       "location.reload()",
		"reload by the Navigation API": "navigation.reload()",
	} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t)
			r := &road{site: s, served: serve(t)}
			r.person = arrive(t, demo.PersonOptions{})
			var err error
			r.page, err = r.person.Visit(t.Context(), s.URL+"/post")
			check(t, err)
			check(t, r.page.Do(t.Context(), "ways.submit()", nil))
			check(t, r.page.Wait(t.Context(), "document.title === 'hit'"))
			if again == "history.back()" {
				check(t, r.page.Do(t.Context(), "location.href = '/second'", nil))
				check(t, r.page.Wait(t.Context(), "document.title === 'Second'"))
			}
			check(t, r.person.Pair(t.Context(), r.code()))
			check(t, r.person.Share(t.Context(), r.page, "read"))
			r.session = r.served.session("shared")
			r.snapshot()
			check(t, r.page.Do(t.Context(), `{ const b = document.createElement('button'); b.textContent = 'Again'; b.onclick = () => {`+again+`}; document.body.append(b) }`, nil))
			_, err = r.agent.Act(t.Context(), r.session, action{"action": "click", "role": "button", "name": "Again"})
			t.Logf("the click is answered %v", err) // a reload that is stopped may well be told
			_, err = r.agent.Act(t.Context(), r.session, action{"action": "back"})
			t.Logf("back is answered %v", err)
			if got := s.count("submit"); got != 1 {
				t.Errorf("the form arrived %d times, want the person's own once", got)
			}
		})
	}
}
