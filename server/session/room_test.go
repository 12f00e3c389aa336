package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/session"
	"chaperone/server/store"
)

// room is a session service on real records; only its browsers are made up, so that they can fail at will.
type room struct {
	*session.Service
	store    *store.Store
	ledger   *ledger.Ledger
	actor    account.Actor
	project  string // the default project's id
	projects *project.Projects
	backend  *backend
	journal  *journal
	endpoint *doors
}

func open(tb testing.TB, limits session.Limits) *room {
	tb.Helper()
	return openAsking(tb, limits, 20*time.Millisecond)
}

// openAsking asks credentials again as often as it is told.
func openAsking(tb testing.TB, limits session.Limits, recheck time.Duration) *room {
	tb.Helper()
	ctx, dir := tb.Context(), tb.TempDir()
	must := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	s, err := store.Open(ctx, dir+"/data")
	must(err)
	l := ledger.New(s, nil)
	secrets, err := account.OpenSecrets(dir + "/data")
	must(err)
	accounts, err := account.Open(account.Config{Store: s, Ledger: l, Dir: dir + "/data"})
	must(err)
	me, err := accounts.EnsureDefault(ctx)
	must(err)
	actor := account.Actor{Account: me.ID, AccountName: me.Name, Kind: account.Person, Role: account.Control}
	projects := project.New(project.Config{Store: s, Ledger: l, Secrets: secrets})
	p, err := projects.EnsureDefault(ctx, actor)
	must(err)
	artifacts, err := artifact.Open(artifact.Config{Store: s, Dir: dir + "/data", LinkKey: make([]byte, 32)})
	must(err)
	b, j, e := &backend{}, &journal{Ledger: l}, &doors{}
	r := &room{store: s, ledger: l, actor: actor, project: p.ID, projects: projects, backend: b, journal: j, endpoint: e, Service: session.New(session.Config{
		Store: s, Projects: projects, Ledger: j, Artifacts: artifacts, Limits: limits,
		Backends: map[project.Backend]session.Backend{project.Managed: b, project.Shared: b},
		Endpoint: e, Recheck: recheck,
	})}
	tb.Cleanup(func() {
		must(r.Shutdown(context.Background()))
		must(artifacts.Close())
		must(s.Close())
	})
	return r
}

// journal is the real ledger that tells when an entry has been journalled.
type journal struct {
	*ledger.Ledger
	begun    func()
	isBroken atomic.Bool
}

// breakDown makes it write nothing any more.
func (j *journal) breakDown() { j.isBroken.Store(true) }

func (j *journal) Finish(ctx context.Context, p ledger.Pending, o ledger.Outcome) (ledger.Row, error) {
	if j.isBroken.Load() {
		return ledger.Row{}, errors.New("disk full")
	}
	return j.Ledger.Finish(ctx, p, o)
}

func (j *journal) Begin(ctx context.Context, entry ledger.Entry) (ledger.Pending, error) {
	if j.isBroken.Load() {
		return ledger.Pending{}, errors.New("disk full")
	}
	pending, err := j.Ledger.Begin(ctx, entry)
	if j.begun != nil {
		j.begun()
	}
	return pending, err
}

// backend opens browsers that answer every program at once.
type backend struct {
	opening    func() // called while a browser is being opened
	browsersMu sync.Mutex
	browsers   []*browser
	fails      error
}

func (b *backend) Open(context.Context, session.Opening) (session.Browser, error) {
	b.browsersMu.Lock()
	defer b.browsersMu.Unlock()
	if b.fails != nil {
		return nil, b.fails
	}
	if b.opening != nil {
		b.opening()
	}
	made := &browser{done: make(chan struct{}), casts: make(chan string, 8)}
	b.browsers = append(b.browsers, made)
	return made, nil
}

func (b *backend) Describe() string { return "made up" }

func (b *backend) CheckURL(string) error { return nil }

func (b *backend) newest() *browser {
	b.browsersMu.Lock()
	defer b.browsersMu.Unlock()
	return b.browsers[len(b.browsers)-1]
}

type browser struct {
	endpoint.Edge // what CDP clients would ask it for
	once          sync.Once
	done          chan struct{}
	runs          int
	tabs          []program.Tab
	casts         chan string // the tabs that were cast, in turn
	err           error       // what it dies of
}

func (b *browser) Err() error { return b.err }

func (b *browser) Run(_ context.Context, p program.Program) (program.Result, error) {
	b.runs++
	return program.Result{Tab: p.Tab, Steps: []json.RawMessage{}}, nil
}

func (b *browser) Tabs() []program.Tab { return b.tabs }

func (b *browser) Cast(ctx context.Context, o program.CastOptions, _ func(program.Picture)) error {
	b.casts <- o.Tab
	<-ctx.Done()
	return nil
}

func (b *browser) Close(context.Context) error { b.die(); return nil }

func (b *browser) Done() <-chan struct{} { return b.done }

func (b *browser) die() { b.once.Do(func() { close(b.done) }) }

func (r *room) start(t *testing.T) session.View {
	t.Helper()
	v, err := r.Open(t.Context(), r.actor, session.Spec{Project: "default"})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// list is the account's ledger, oldest first.
func (r *room) list(t *testing.T) []ledger.Row {
	t.Helper()
	list, err := r.ledger.List(t.Context(), ledger.Filter{Account: r.actor.Account, Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// rows are the account's ledger rows, oldest first, as method and outcome.
func (r *room) rows(t *testing.T) [][2]string {
	t.Helper()
	var rows [][2]string
	for _, row := range r.list(t) {
		if row.Kind == string(ledger.Browser) {
			rows = append(rows, [2]string{row.Method, row.Outcome})
		}
	}
	return rows
}

func (r *room) awaitState(t *testing.T, id string, want session.State) session.View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stop := errors.New("seen")
	var v session.View
	err := r.Events(ctx, r.actor, session.Scope{Session: id}, 0, func(session.Event) error {
		var err error
		if v, err = r.Get(ctx, r.actor, id); err != nil {
			return err
		}
		if v.State == want {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		t.Fatalf("the session is %s, want %s: %v", v.State, want, err)
	}
	return v
}
