package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestChecksForPeopleAreKnownByWhatTheySay(t *testing.T) {
	line := func(role, name string) string {
		return fmt.Sprintf(`{"depth":0,"role":%q,"name":%q,"node":1}`, role, name)
	}
	long := strings.Repeat(line("link", "another paragraph")+",", 40)
	for sentence, c := range map[string]struct {
		title, lines string
		want         bool
	}{
		"a title of nothing else":              {"Just a moment...", long + line("link", "x"), true},
		"a small page that asks":               {"shop.test", line("checkbox", "Verify you are human"), true},
		"a frame of a check alone on its page": {"shop.test", line("iframe", "Widget containing a Cloudflare security challenge"), true},
		"a title that asks, on a small page":   {"Are you a robot?", line("button", "Continue"), true},
		"an article about checks":              {"Are you a robot? A history", long + line("heading", "Verify you are human"), false},
		"a form with a box of that kind":       {"Sign up", long + line("checkbox", "I'm not a robot"), false},
		"a page like any other":                {"Shop", line("button", "Buy"), false},
	} {
		state := fmt.Sprintf(`{"doc":"d","url":"https://page.test/","title":%q,"status":200}`, c.title)
		s := &scripted{tabs: oneTab(), answers: showing(`{"doc":"d","lines":[`+c.lines+`]}`, state)}
		_, err := browse.New(s, browse.Options{}).Do(t.Context(), browse.Action{Action: "snapshot"})
		if fault.Is(err, fault.BotCheck) != c.want {
			t.Errorf("%s: %v", sentence, err)
		}
	}
}
