package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"time"

	"chaperone/server/fault"
)

// Kind says what a row is about.
type Kind string

// The kinds of row.
const (
	Browser Kind = "browser"
	CDP     Kind = "cdp"
	Skill   Kind = "skill"
	Access  Kind = "access"
)

// Outcomes that the ledger itself writes; any other outcome is one of the contract's error codes.
const (
	Done = "done"
	Lost = "lost"
)

// withheld stands where a word was not fit for the ledger but the action had already run.
const withheld = "withheld"

// mostDetails is how many words of detail a row may have; a second of CDP needs the most: 64 names of methods, 32
// clients' digests and the sums.
const mostDetails = 128

// Actor is who did it: a person or a token, and its id.
type Actor struct {
	Kind string
	ID   string
}

// Entry is what is known before the action. Request is digested and not kept. Peer is a host, with a port
// when there is one; Method is a word such as `click`, `session.open` or `Page.navigate`. Detail holds
// short words and numbers only; text that could come from a page or a person is refused.
type Entry struct {
	Account   string
	Actor     Actor
	Run       string
	Project   string
	Session   string
	Kind      Kind
	Direction string
	Peer      string
	Method    string
	Request   []byte
	Detail    map[string]string
}

// Outcome is what is known after: Done or an error code, and the answer, which is digested and not kept.
// A word that Entry would refuse is withheld here, for the action has already run.
type Outcome struct {
	Outcome  string
	Response []byte
	Detail   map[string]string
}

// words are the shapes that a row's texts must have. None of them can hold a query, a sentence or a line.
type words struct {
	id     *regexp.Regexp
	method *regexp.Regexp
	peer   *regexp.Regexp
	detail *regexp.Regexp
}

func newWords() words {
	return words{
		id:     regexp.MustCompile(`^[A-Za-z0-9_.:-]{0,128}$`),
		method: regexp.MustCompile(`^[A-Za-z0-9_.@-]{1,64}$`),
		peer:   regexp.MustCompile(`^[A-Za-z0-9_.:%\[\]-]{0,260}$`),
		detail: regexp.MustCompile(`^[A-Za-z0-9_.:@+-]{0,80}$`),
	}
}

// refuse answers bad_request for the first word of entry that does not have its shape, never repeating it.
func (w words) refuse(entry Entry) error {
	checks := []struct {
		name, text string
		shape      *regexp.Regexp
	}{
		{"account", entry.Account, w.method},
		{"actor kind", entry.Actor.Kind, w.method},
		{"actor", entry.Actor.ID, w.id},
		{"run", entry.Run, w.id},
		{"project", entry.Project, w.id},
		{"session", entry.Session, w.id},
		{"kind", string(entry.Kind), w.method},
		{"direction", entry.Direction, w.id},
		{"peer", entry.Peer, w.peer},
		{"method", entry.Method, w.method},
	}
	for _, c := range checks {
		if !c.shape.MatchString(c.text) {
			return fault.New(fault.BadRequest, "the ledger does not take this "+c.name, "Use a short plain word.")
		}
	}
	return w.refuseDetail(entry.Detail)
}

func (w words) refuseDetail(detail map[string]string) error {
	fits := len(detail) <= mostDetails
	for key, value := range detail {
		fits = fits && w.method.MatchString(key) && w.detail.MatchString(value)
	}
	if !fits {
		return fault.New(fault.BadRequest, "the ledger does not take this detail", "Use a few short plain words.")
	}
	return nil
}

// withhold replaces what does not have its shape.
func (w words) withhold(outcome Outcome) Outcome {
	if !w.method.MatchString(outcome.Outcome) {
		outcome.Outcome = withheld
	}
	if w.refuseDetail(outcome.Detail) != nil {
		outcome.Detail = map[string]string{"detail": withheld}
	}
	return outcome
}

// encodeDetail writes detail with sorted keys; nothing when it is empty.
func encodeDetail(detail map[string]string) (string, error) {
	if len(detail) == 0 {
		return "", nil
	}
	text, err := json.Marshal(detail)
	if err != nil {
		return "", fmt.Errorf("encode detail: %w", err)
	}
	return string(text), nil
}

// mergeDetail adds more to an encoded detail.
func mergeDetail(encoded string, more map[string]string) (string, error) {
	merged := map[string]string{}
	if encoded != "" {
		if err := json.Unmarshal([]byte(encoded), &merged); err != nil {
			return "", fmt.Errorf("decode detail: %w", err)
		}
	}
	maps.Copy(merged, more)
	return encodeDetail(merged)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
