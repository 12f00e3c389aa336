package session_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaperone/egress"
	"chaperone/server/session"
)

func denied(id, host string, reason egress.Reason) egress.Decision {
	return egress.Decision{
		At: time.Now(), Session: id, Method: "GET", Host: host, Port: 80, Verdict: egress.VerdictDeny, Reason: string(reason),
	}
}

// refusals are the events that a session has of its refused requests, once it is over.
func (r *room) refusals(t *testing.T, id string) []refusal {
	t.Helper()
	if _, err := r.Close(t.Context(), r.actor, id); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all []refusal
	err := r.Events(ctx, r.actor, session.Scope{Session: id}, 0, func(e session.Event) error {
		switch e.Kind {
		case "egress.refused":
			var told refusal
			if err := json.Unmarshal(e.Fields, &told); err != nil {
				return err
			}
			if len(e.Fields) > 8<<10 {
				t.Errorf("an event of %d bytes", len(e.Fields))
			}
			all = append(all, told)
		case "session.closed":
			stop()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

type refusal struct {
	Count, Total, Others int
	Message              string
	Refused              []struct {
		Host, Method, Reason string
		Port, Count          int
	}
}

func TestARefusalIsAnEventThatSaysWhatAndWhy(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	r.Refused(denied(v.ID, "10.0.0.1", egress.Private))
	r.awaitEvent(t, "egress.refused", func(fields string) bool { return strings.Contains(fields, "10.0.0.1 was refused") })
	told := r.refusals(t, v.ID)
	if len(told) != 1 || told[0].Count != 1 || told[0].Total != 1 || len(told[0].Refused) != 1 {
		t.Fatalf("told %+v", told)
	}
	one := told[0].Refused[0]
	if one.Host != "10.0.0.1" || one.Port != 80 || one.Method != http.MethodGet || one.Reason != "private_address" || one.Count != 1 {
		t.Errorf("told %+v", one)
	}
	if !strings.Contains(told[0].Message, "private address") {
		t.Errorf("message %q", told[0].Message)
	}
}

func TestAFloodOfRefusalsIsCountedInFewEvents(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	const flood, hosts = 10_000, 400
	for i := range flood {
		host := fmt.Sprintf("h%d.internal", i%hosts)
		if i%2 == 0 {
			host = "10.0.0.1"
		}
		r.Refused(denied(v.ID, host, egress.LocalName))
	}
	told := r.refusals(t, v.ID)
	if len(told) == 0 || len(told) > 3 {
		t.Fatalf("%d events", len(told))
	}
	sum := 0
	for _, e := range told {
		listed := e.Others
		for _, kind := range e.Refused {
			listed += kind.Count
		}
		if listed != e.Count || len(e.Refused) > 16 {
			t.Errorf("%d of %d in %d kinds", listed, e.Count, len(e.Refused))
		}
		sum += e.Count
	}
	last := told[len(told)-1]
	if sum != flood || last.Total != flood || told[0].Refused[0].Host != "10.0.0.1" {
		t.Errorf("%d counted, %d in total, first %+v", sum, last.Total, told[0].Refused[0])
	}
}

func TestRefusalsOfNoLivingSessionAreNobodys(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	r.Refused(denied("s_other", "10.0.0.1", egress.Private))
	if told := r.refusals(t, v.ID); len(told) != 0 {
		t.Errorf("told %+v", told)
	}
	r.Refused(denied(v.ID, "10.0.0.1", egress.Private)) // it is over
}

func TestAPageCannotMakeAnEventLong(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.start(t)
	for i := range 64 {
		d := denied(v.ID, strings.Repeat("a", 200)+strconv.Itoa(i)+".internal", egress.LocalName)
		d.Method = strings.Repeat("X", 10_000)
		r.Refused(d)
	}
	told := r.refusals(t, v.ID)
	if len(told) != 1 || told[0].Refused[0].Method != "other" || told[0].Others != 48 {
		t.Errorf("told %+v", told)
	}
}
