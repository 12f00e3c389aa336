package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/ledger"
	"chaperone/server/live"
	"chaperone/server/project"
	"chaperone/server/session"
	"chaperone/server/store"
	"chaperone/server/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is the real rooms on a temporary folder, behind the real handler; only the browser is made up.
type house struct {
	t         *testing.T
	url       string
	client    *http.Client
	handler   http.Handler
	accounts  *account.Accounts
	artifacts *artifact.Artifacts
	token     string // the command line's
	profiles  shelf
}

func open(t *testing.T) *house {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's listener needs no deadline
	check(t, err)
	o, h := options(t, listener.Addr())
	h.handler, err = web.New(o)
	check(t, err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: h.handler, ReadHeaderTimeout: time.Second}}
	server.Start()
	t.Cleanup(server.Close)
	h.url, h.client = server.URL, server.Client()
	return h
}

// options makes the rooms.
func options(t *testing.T, at net.Addr) (web.Options, *house) {
	t.Helper()
	dir := t.TempDir() + "/data"
	kept, err := store.Open(t.Context(), dir)
	check(t, err)
	t.Cleanup(func() { check(t, kept.Close()) })
	secrets, err := account.OpenSecrets(dir)
	check(t, err)
	chain := ledger.New(kept, nil)
	accounts, err := account.Open(account.Config{Store: kept, Ledger: chain, Dir: dir})
	check(t, err)
	projects := project.New(project.Config{Store: kept, Ledger: chain, Secrets: secrets})
	key, err := secrets.Key("links")
	check(t, err)
	artifacts, err := artifact.Open(artifact.Config{Store: kept, Dir: dir, LinkKey: key})
	check(t, err)
	t.Cleanup(func() { check(t, artifacts.Close()) })
	sessions := session.New(session.Config{
		Store: kept, Projects: projects, Ledger: chain, Artifacts: artifacts,
		Backends: map[project.Backend]session.Backend{project.Managed: backend{}},
	})
	t.Cleanup(func() { check(t, sessions.Shutdown(context.Background())) })
	viewers := live.NewHub(program.CastOptions{FPS: 10})
	t.Cleanup(viewers.Close)
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		t.Fatalf("the address is %v", at)
	}
	hosts, err := web.NewHosts(tcp.Port, "")
	check(t, err)
	hub := relay.NewHub(relay.Options{Authority: nobody{}, Host: hosts.Has, ExtensionID: "none"})
	t.Cleanup(func() { check(t, hub.Close(context.Background())) })
	profiles := shelf{make(chan string, 4)}
	return web.Options{
		BodyWait: 2 * time.Second,
		Hosts:    hosts, Identity: accounts, Logins: accounts, Tokens: accounts,
		Projects: projects, Keeper: projects, Profiles: profiles, Pairing: projects, Unpair: projects, Links: hub, Link: hub,
		Sessions: sessions, Actions: sessions, Exposure: sessions, Happened: sessions, Screens: sessions, Cast: viewers,
		Artifacts: artifacts, Signed: artifacts, Ledger: chain, MCP: echo{},
		Extension: func() ([]byte, error) { return []byte("PK"), nil },
		Dashboard: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "main.js": {Data: []byte("1")}},
		Ready:     func(context.Context) error { return nil }, Metrics: prometheus.NewRegistry(), FrameFPS: 30, Version: "test",
	}, settle(t, accounts, projects, artifacts, dir).with(profiles)
}

func (h *house) with(profiles shelf) *house {
	h.profiles = profiles
	return h
}

// settle makes the embedded defaults, as a server's start does.
func settle(t *testing.T, accounts *account.Accounts, projects *project.Projects, artifacts *artifact.Artifacts, dir string) *house {
	t.Helper()
	me, err := accounts.EnsureDefault(t.Context())
	check(t, err)
	owner := account.Actor{Account: me.ID, AccountName: me.Name, Kind: account.Person, Role: account.Control}
	_, err = projects.EnsureDefault(t.Context(), owner)
	check(t, err)
	token, err := accounts.EnsureLocalToken(t.Context(), dir)
	check(t, err)
	return &house{t: t, accounts: accounts, artifacts: artifacts, token: token}
}

// shelf stands for the profiles: it notes which are removed.
type shelf struct{ removed chan string }

func (s shelf) RemoveProfile(_ context.Context, _, project string) error {
	s.removed <- project
	return nil
}

// nobody knows no pairing.
type nobody struct{}

func (nobody) Pairing(context.Context, string, string) (relay.Pairing, error) {
	return relay.Pairing{}, errors.New("unknown")
}
func (nobody) Check(context.Context, relay.Pairing) error { return errors.New("unknown") }

// echo stands for the MCP face: it says whom it was given.
type echo struct{}

func (echo) ServeActor(w http.ResponseWriter, _ *http.Request, actor account.Actor) {
	_, _ = io.WriteString(w, actor.AccountName)
}

// backend opens browsers that show one picture again and again and have one tab.
type backend struct{}

func (backend) Open(context.Context, session.Opening) (session.Browser, error) {
	return &fakeBrowser{done: make(chan struct{})}, nil
}
func (backend) Describe() string      { return "test" }
func (backend) CheckURL(string) error { return nil }

type fakeBrowser struct{ done chan struct{} }

func (b *fakeBrowser) Run(context.Context, program.Program) (program.Result, error) {
	return program.Result{}, &program.Error{Step: -1, Code: "tab_closed", Message: "there is no tab"}
}

func (b *fakeBrowser) Tabs() []program.Tab {
	return []program.Tab{{ID: "t1", URL: "https://example.com/", Title: "Example", Level: program.LevelRead}}
}

func (b *fakeBrowser) Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			sink(program.Picture{Tab: o.Tab, Width: 8, Height: 6, JPEG: []byte("jpeg")})
		}
	}
}

func (b *fakeBrowser) Close(context.Context) error {
	select {
	case <-b.done:
	default:
		close(b.done)
	}
	return nil
}
func (b *fakeBrowser) Done() <-chan struct{} { return b.done }

// reply is an answer as a test reads it.
type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) code() string {
	var body struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(r.body), &body) != nil || body.Error.Message == "" {
		return ""
	}
	return body.Error.Code
}

// wish is a request; the zero value asks as the command line.
type wish struct {
	method, path, body string
	bearer             string // "none" sends no bearer
	header             map[string]string
}

func (h *house) ask(w wish) reply {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), w.method, h.url+w.path, bytes.NewBufferString(w.body))
	check(h.t, err)
	switch w.bearer {
	case "":
		request.Header.Set("Authorization", "Bearer "+h.token)
	case "none":
	default:
		request.Header.Set("Authorization", "Bearer "+w.bearer)
	}
	for name, value := range w.header {
		if name == "Host" {
			request.Host = value
		}
		request.Header.Set(name, value)
	}
	response, err := h.client.Do(request)
	check(h.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	check(h.t, err)
	return reply{response.StatusCode, response.Header, string(raw)}
}

// must asks for what has to succeed and decodes the answer.
func (h *house) must(w wish, into any) {
	h.t.Helper()
	r := h.ask(w)
	if r.status >= http.StatusMultipleChoices {
		h.t.Fatalf("%s %s answered %d %s", w.method, w.path, r.status, r.body)
	}
	if into != nil {
		check(h.t, json.NewDecoder(strings.NewReader(r.body)).Decode(into))
	}
}

func (h *house) session() string {
	h.t.Helper()
	var view struct{ ID string }
	h.must(wish{method: "POST", path: "/api/v1/projects/default/sessions", body: `{}`}, &view)
	return view.ID
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
