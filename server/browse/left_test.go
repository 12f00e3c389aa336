package browse_test

import (
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/fault"
)

// slow answers each program after a while: an element that is asked for by its role and name, then the page.
func slow(each time.Duration) *scripted {
	found := `[{"frame":"F","value":{"doc":"d","url":"https://example.com/","site":"https://example.com","total":1,"matches":[{"node":1,"role":"button","name":"Pay"}]}}]`
	page := showing(`{"doc":"d","lines":[]}`, plainState)
	return &scripted{tabs: oneTab(), answers: func(p program.Program) (program.Result, error) {
		<-time.After(each)
		result, err := page(p)
		for i, s := range p.Steps {
			if s.Run == "@find" {
				result.Steps[i] = []byte(found)
			}
		}
		return result, err
	}}
}

// An action that takes several programs has one limit for them together.
func TestTheProgramsOfAnActionShareItsTime(t *testing.T) {
	for sentence, tc := range map[string]struct {
		each         time.Duration
		first, later int // ms that the programs have
	}{
		"a first program that is quick":          {100 * time.Millisecond, 5000, 4900},
		"a first program that takes most of it":  {3 * time.Second, 5000, 2000},
		"a first program that takes all of it":   {6 * time.Second, 5000, 1000},
		"a first program that takes no time now": {0, 5000, 5000},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := slow(tc.each)
				e := browse.New(b, browse.Options{AllowDomains: []string{"example.com"}})
				_, err := e.Do(t.Context(), browse.Action{Action: "click", Role: "button", Name: "Pay", TimeoutMS: 5000})
				if len(b.got) != 2 || b.got[0].DeadlineMS != tc.first || b.got[1].DeadlineMS != tc.later {
					t.Fatalf("%d programs, %v, %v", len(b.got), b.got, err)
				}
			})
		})
	}
}

func TestAPauseFitsIntoItsLimit(t *testing.T) {
	b := &scripted{tabs: oneTab(), answers: showing(`{"doc":"d","lines":[]}`, plainState)}
	e := browse.New(b, browse.Options{})
	if _, err := e.Do(t.Context(), browse.Action{Action: "wait", MS: 1001, TimeoutMS: 1000}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("a pause beyond its limit: %v", err)
	}
	if _, err := e.Do(t.Context(), browse.Action{Action: "wait", MS: 1000, TimeoutMS: 1000}); err != nil || b.got[0].Steps[0].Settle.MaxMS != 1000 {
		t.Errorf("a pause as long as its limit: %v, %+v", err, b.got)
	}
}
