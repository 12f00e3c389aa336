package browse_test

import (
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// crashing is one whose tab is gone, by a crash or not.
type crashing struct {
	*scripted
	crashed string
}

func (c crashing) HasCrashed(tab string) bool { return tab == c.crashed }

func TestATabThatIsGoneSaysWhy(t *testing.T) {
	for crashed, want := range map[string]string{"t1": "The page of tab t1 crashed", "": "was closed or is no longer shared"} {
		s := &scripted{tabs: oneTab(), answers: showing(`{"doc":"d","lines":[]}`, `{"doc":"d","url":"https://page.test/","site":"https://page.test","status":200}`)}
		e := browse.New(crashing{s, crashed}, browse.Options{})
		if _, err := e.Do(t.Context(), browse.Action{Action: "open", URL: "https://page.test/"}); err != nil {
			t.Fatal(err)
		}
		s.tabs = nil
		_, err := e.Do(t.Context(), browse.Action{Action: "snapshot"})
		if f := fault.Of(err); f == nil || f.Code != fault.TabClosed || !strings.Contains(f.Message, want) || !strings.Contains(f.Detail, "page.test") {
			t.Errorf("%q: %+v", crashed, f)
		}
	}
}
