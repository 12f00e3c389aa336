package session_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/server/account"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/session"
)

// doors grants made-up capabilities and remembers them.
type doors struct {
	grantedMu sync.Mutex
	granted   []*door
	goodbyes  <-chan struct{} // of the next ones
}

func (d *doors) Grant(o endpoint.GrantOptions) (session.Capability, error) {
	d.grantedMu.Lock()
	defer d.grantedMu.Unlock()
	made := &door{
		GrantOptions: o, secret: "secret" + strconv.Itoa(len(d.granted)), done: make(chan struct{}), goodbyes: d.goodbyes,
	}
	d.granted = append(d.granted, made)
	return made, nil
}

func (d *doors) newest() *door {
	d.grantedMu.Lock()
	defer d.grantedMu.Unlock()
	return d.granted[len(d.granted)-1]
}

type door struct {
	endpoint.GrantOptions
	secret string
	once   sync.Once
	done   chan struct{}
	// goodbyes, when set, is what Revoke waits for.
	goodbyes <-chan struct{}
}

func (d *door) WS() string { return "ws://127.0.0.1:1/devtools/browser/" + d.secret }

func (d *door) HTTP() string { return "http://127.0.0.1:1/" + d.secret }

func (d *door) Done() <-chan struct{} { return d.done }

func (d *door) Cut() { d.once.Do(func() { close(d.done) }) }

func (d *door) Revoke() {
	d.Cut()
	if d.goodbyes != nil {
		<-d.goodbyes
	}
}

func (d *door) awaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-d.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the capability has not ended")
	}
}

// interactive makes the default project so and opens a session in it.
func (r *room) interactive(tb testing.TB, spec session.Spec) session.View {
	tb.Helper()
	policy := project.Interactive
	if _, err := r.projects.Update(tb.Context(), r.actor, "default", project.Change{Policy: &policy}); err != nil {
		tb.Fatal(err)
	}
	spec.Project = "default"
	v, err := r.Open(tb.Context(), r.actor, spec)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// shows is the credential of an actor for as long as ends has not been called.
func shows(actor account.Actor) (by session.Credential, ends func()) {
	var once sync.Once
	over := make(chan struct{})
	return session.Credential{
		Sum: sha256.Sum256([]byte(actor.ID())),
		Holder: func(context.Context) (account.Actor, error) {
			select {
			case <-over:
				return account.Actor{}, errors.New("revoked")
			default:
				return actor, nil
			}
		},
	}, func() { once.Do(func() { close(over) }) }
}

func (r *room) expose(tb testing.TB, id string) session.Access {
	tb.Helper()
	by, _ := shows(r.actor)
	access, err := r.Expose(tb.Context(), r.actor, id, by)
	if err != nil {
		tb.Fatal(err)
	}
	return access
}

func (r *room) withdraw(t *testing.T, id string) {
	t.Helper()
	if err := r.Withdraw(t.Context(), r.actor, id); err != nil {
		t.Fatal(err)
	}
}

// told are the ledger's rows of a kind, oldest first, as method, outcome and cause.
func (r *room) told(t *testing.T, kind ledger.Kind) []ledger.Row {
	t.Helper()
	var rows []ledger.Row
	for _, row := range r.list(t) {
		if row.Kind == string(kind) && row.Session != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// mustTell holds the access rows of the session against words of method and detail.
func (r *room) mustTell(t *testing.T, want ...string) {
	t.Helper()
	rows := r.told(t, ledger.Access)
	if len(rows) != len(want) {
		t.Fatalf("the ledger has %+v", rows)
	}
	for i, row := range rows {
		method, detail, _ := strings.Cut(want[i], " ")
		if row.Method != method || row.Outcome != ledger.Done || !strings.Contains(row.Detail, detail) || strings.Contains(row.Detail, "secret") {
			t.Errorf("row %d is %+v, want %s", i, row, want[i])
		}
	}
}

// awaitEvent waits for an event of a kind whose fields fit.
func (r *room) awaitEvent(t *testing.T, kind string, fits func(fields string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	seen := errors.New("seen")
	err := r.Events(ctx, r.actor, session.Scope{Project: "default"}, 0, func(e session.Event) error {
		if e.Kind == kind && fits(string(e.Fields)) {
			return seen
		}
		return nil
	})
	if !errors.Is(err, seen) {
		t.Fatalf("no such %s: %v", kind, err)
	}
}
