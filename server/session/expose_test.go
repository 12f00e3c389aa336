package session_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/session"
)

// doors grants made-up capabilities and remembers them.
type doors struct {
	grantedMu sync.Mutex
	granted   []*door
}

func (d *doors) Grant(o endpoint.GrantOptions) (session.Capability, error) {
	d.grantedMu.Lock()
	defer d.grantedMu.Unlock()
	made := &door{GrantOptions: o, secret: "secret" + strconv.Itoa(len(d.granted)), done: make(chan struct{})}
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
}

func (d *door) WS() string            { return "ws://127.0.0.1:1/devtools/browser/" + d.secret }
func (d *door) HTTP() string          { return "http://127.0.0.1:1/" + d.secret }
func (d *door) Done() <-chan struct{} { return d.done }
func (d *door) Revoke()               { d.once.Do(func() { close(d.done) }) }

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

func TestASessionHasOneEndpointAtATime(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	first := r.expose(t, v.ID)
	if !first.IsNew || first.Session != v.ID || !strings.HasPrefix(first.WS, "ws://") || !strings.HasPrefix(first.HTTP, "http://") {
		t.Errorf("got %+v", first)
	}
	if again := r.expose(t, v.ID); again.IsNew || again.WS != first.WS {
		t.Errorf("asked again: %+v", again)
	}
	r.withdraw(t, v.ID)
	r.withdraw(t, v.ID)
	r.endpoint.newest().awaitEnd(t)
	if other := r.expose(t, v.ID); !other.IsNew || other.WS == first.WS {
		t.Errorf("after the end: %+v", other)
	}
	if _, err := r.Close(t.Context(), r.actor, v.ID); err != nil {
		t.Fatal(err)
	}
	r.withdraw(t, v.ID)
	r.mustTell(t, `cdp.open "new":"true"`, `cdp.open "new":"false"`, `cdp.close "cause":"withdrawn"`, `cdp.open "new":"true"`, `cdp.close "cause":"session_ended"`)
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

func TestWhoMayNotHaveAnEndpoint(t *testing.T) {
	r := open(t, session.Limits{Sessions: 3, SessionsPerProject: 3})
	readOnly := r.start(t).ID
	open, over := r.interactive(t, session.Spec{}).ID, r.interactive(t, session.Spec{}).ID
	if _, err := r.Close(t.Context(), r.actor, over); err != nil {
		t.Fatal(err)
	}
	watcher, stranger := r.actor, r.actor
	watcher.Kind, watcher.Role, watcher.TokenID = account.Token, account.Observe, "k_1"
	stranger.Account = "u_other"
	for sentence, c := range map[string]struct {
		actor account.Actor
		id    string
		code  fault.Code
	}{
		"in a read-only project":       {r.actor, readOnly, fault.ReadOnlyRefused},
		"who may only watch":           {watcher, open, fault.Forbidden},
		"of another account":           {stranger, open, fault.NotFound},
		"of a session that is over":    {r.actor, over, fault.SessionEnded},
		"of a session that never was":  {r.actor, "s_none", fault.NotFound},
		"who is bound to another work": {account.Actor{Account: r.actor.Account, Kind: account.Token, Role: account.Control, Project: "p_other"}, open, fault.NotFound},
	} {
		by, _ := shows(c.actor)
		if _, err := r.Expose(t.Context(), c.actor, c.id, by); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", sentence, err, c.code)
		}
	}
	if len(r.endpoint.granted) != 0 {
		t.Errorf("granted %d", len(r.endpoint.granted))
	}
	if rows := r.told(t, ledger.Access); len(rows) != 1 || rows[0].Outcome != string(fault.ReadOnlyRefused) {
		t.Errorf("the ledger has %+v", rows)
	}
}

func TestAnEndpointEndsWithAnyCredentialThatAskedForIt(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	agent := account.Actor{Account: r.actor.Account, Kind: account.Token, TokenID: "k_1", Role: account.Control, Project: r.project}
	by, revoke := shows(agent)
	if _, err := r.Expose(t.Context(), agent, v.ID, by); err != nil {
		t.Fatal(err)
	}
	door := r.endpoint.newest()
	revoke()
	door.awaitEnd(t)
	r.withdraw(t, v.ID) // waits until it is cleared away
	rows := r.told(t, ledger.Access)
	if last := rows[len(rows)-1]; last.Method != "cdp.close" || !strings.Contains(last.Detail, "credential_ended") || last.ActorKind != "server" {
		t.Errorf("the last row is %+v", last)
	}
	if r.awaitState(t, v.ID, session.Active).State != session.Active {
		t.Error("the session ended too")
	}
}

func TestACredentialThatIsEndedHereEndsItsEndpointAtOnce(t *testing.T) {
	r := openAsking(t, session.Limits{}, time.Hour)
	v := r.interactive(t, session.Spec{})
	by, revoke := shows(r.actor)
	if _, err := r.Expose(t.Context(), r.actor, v.ID, by); err != nil {
		t.Fatal(err)
	}
	door := r.endpoint.newest()
	r.EndedCredential() // another's: this one still holds
	revoke()
	r.EndedCredential()
	door.awaitEnd(t)
}

func TestAConnectedClientIsUse(t *testing.T) {
	r := open(t, session.Limits{Idle: 50 * time.Millisecond})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	door := r.endpoint.newest()
	door.Changed(1)
	r.awaitEvent(t, "browser.cdp", func(fields string) bool { return strings.Contains(fields, `"clients":1`) }) // a second later
	if now, err := r.Get(t.Context(), r.actor, v.ID); err != nil || now.State != session.Active || now.CDPClients != 1 {
		t.Fatalf("with a client: %+v, %v", now, err)
	}
	door.Changed(0)
	r.awaitState(t, v.ID, session.Expired)
	door.awaitEnd(t)
}

// say is one command of a client as the endpoint tells of it.
func say(client int, url, method, params string) endpoint.Command {
	raw, _ := json.Marshal(map[string]any{"id": 1, "method": method, "params": json.RawMessage(params)}) //nolint:errchkjson // a test's own text
	return endpoint.Command{Client: client, URL: url, Method: method, Writes: strings.HasPrefix(method, "Input."), Raw: raw}
}

func refused(c endpoint.Command) endpoint.Command {
	c.Refused = true
	return c
}

// used are the rows of commands, once they are there.
func (r *room) used(t *testing.T, n int) []ledger.Row {
	t.Helper()
	r.awaitEvent(t, "browser.cdp", func(string) bool { return len(r.told(t, ledger.CDP)) >= n })
	return r.told(t, ledger.CDP)
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

func detail(t *testing.T, row ledger.Row) map[string]string {
	t.Helper()
	var d map[string]string
	if err := json.Unmarshal([]byte(row.Detail), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestASecondOfCommandsIsOneRowForEachHost(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{Run: "run1"})
	r.expose(t, v.ID)
	door := r.endpoint.newest()
	const a, b = "https://a.example/?q=very-private", "https://b.example:8443/"
	for _, c := range []endpoint.Command{
		say(1, "", "Browser.getVersion", `{}`),
		say(1, a, "Input.insertText", `{"text":"very-private"}`),
		say(1, a, "Input.insertText", `{"text":"x"}`),
		say(1, a, "Runtime.evaluate", `{"expression":"very-private"}`),
		refused(say(1, a, "Network.getCookies", `{}`)),
		refused(say(1, a, "very-private", `{}`)),
		say(2, b, "Page.enable", `{}`),
		say(1, a, "Page.navigate", `{"url":"https://b.example:8443/very-private"}`),
	} {
		if err := door.Recorder.Record(c); err != nil {
			t.Fatal(err)
		}
	}
	rows := r.used(t, 3)
	if len(rows) != 3 {
		t.Fatalf("the rows are %+v", rows)
	}
	byPeer := map[string]map[string]string{}
	for _, row := range rows {
		byPeer[row.Peer] = detail(t, row)
		if row.Method != "commands" || row.Outcome != ledger.Done || row.Session != v.ID || row.Run != "run1" || strings.Contains(row.Detail, "private") {
			t.Errorf("a row is %+v", row)
		}
	}
	for peer, want := range map[string]map[string]string{
		"":               {"commands": "1", "reads": "1", "Browser.getVersion": "1"},
		"a.example":      {"commands": "5", "writes": "2", "reads": "1", "refused": "2", "Input.insertText": "2", "Runtime.evaluate": "1", "refused.Network": "1", "refused.other": "1"},
		"b.example:8443": {"commands": "2", "reads": "2", "Page.enable": "1", "Page.navigate": "1"},
	} {
		mustHave(t, peer, byPeer[peer], want)
	}
	r.mustVerify(t)
}

func mustHave(t *testing.T, peer string, got, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%q has %s %q, want %s", peer, key, got[key], value)
		}
	}
}

func (r *room) mustVerify(t *testing.T) {
	t.Helper()
	if report, err := r.ledger.Verify(t.Context(), r.actor.Account); err != nil || report.Bad != nil {
		t.Errorf("verify: %+v, %v", report, err)
	}
}

func TestAClientsOwnLogProvesTheDigest(t *testing.T) {
	r := open(t, session.Limits{})
	access := r.expose(t, r.interactive(t, session.Spec{}).ID)
	door := r.endpoint.newest()
	hash := sha256.Sum256([]byte("chaperone-cdp-1:" + access.WS[strings.LastIndex(access.WS, "/")+1:]))
	want := ""
	for i := range 5 {
		c := say(7, "http://a.example/", "Input.insertText", `{"text":"`+strconv.Itoa(i)+`"}`)
		for _, one := range []endpoint.Command{c, say(8, "http://a.example/", "Page.enable", `{}`)} {
			if err := door.Recorder.Record(one); err != nil {
				t.Fatal(err)
			}
		}
		hash = sha256.Sum256(append(hash[:], c.Raw...))
		want = strconv.Itoa(i+1) + ":" + hex.EncodeToString(hash[:])
	}
	if got := detail(t, r.used(t, 1)[0])["client.7"]; got != want {
		t.Errorf("the digest is %s, want %s", got, want)
	}
}

func TestARowsNamesAreBounded(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{}).ID)
	door := r.endpoint.newest()
	for i := range 200 {
		if err := door.Recorder.Record(say(i, "http://a.example/", "Page.m"+strconv.Itoa(i), `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	d := detail(t, r.used(t, 1)[0])
	if d["commands"] != "200" || d["other"] != strconv.Itoa(200-63) || d["more_clients"] != strconv.Itoa(200-32) {
		t.Errorf("the detail is %v", d)
	}
}

func TestACrashLeavesALostRow(t *testing.T) {
	r := open(t, session.Limits{})
	agent := account.Actor{Account: r.actor.Account, Kind: account.Token, TokenID: "k_1", Role: account.Control, Project: r.project}
	by, _ := shows(agent)
	if _, err := r.Expose(t.Context(), agent, r.interactive(t, session.Spec{}).ID, by); err != nil {
		t.Fatal(err)
	}
	if err := r.endpoint.newest().Recorder.Record(say(1, "http://a.example/", "Page.enable", `{}`)); err != nil {
		t.Fatal(err)
	}
	// What a server that was killed now would find at its next start.
	if n, err := r.ledger.Recover(t.Context()); n != 1 || err != nil {
		t.Fatalf("recover: %d, %v", n, err)
	}
	if rows := r.told(t, ledger.CDP); len(rows) != 1 || rows[0].Outcome != ledger.Lost || rows[0].Peer != "a.example" || rows[0].ActorID != "k_1" {
		t.Errorf("the rows are %+v", rows)
	}
}

func TestWhatCannotBeWrittenDownIsNotDone(t *testing.T) {
	for sentence, first := range map[string]int{"the journal takes nothing": 0, "the row cannot be written": 1} {
		t.Run(sentence, func(t *testing.T) {
			r := open(t, session.Limits{})
			r.expose(t, r.interactive(t, session.Spec{}).ID)
			door := r.endpoint.newest()
			c := say(1, "http://a.example/", "Page.enable", `{}`)
			for range first {
				if err := door.Recorder.Record(c); err != nil {
					t.Fatal(err)
				}
			}
			r.journal.breakDown()
			if first == 0 {
				if err := door.Recorder.Record(c); err == nil {
					t.Error("a command went down")
				}
			}
			door.awaitEnd(t)
			if err := door.Recorder.Record(c); err == nil {
				t.Error("a later command went down")
			}
		})
	}
}

func TestClientsStayWithinTheSessionsDomains(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{AllowDomains: []string{"*.a.example"}}).ID)
	b := r.backend.newest()
	b.tabs = []program.Tab{{ID: "t1", URL: "https://x.a.example/"}}
	edge := &held{}
	b.Edge = edge
	wire, err := r.endpoint.newest().Edge.Hold(t.Context(), "t1", edge)
	if err != nil {
		t.Fatal(err)
	}
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"in","targetInfo":{"type":"iframe","url":"https://y.a.example/"}}`))
	edge.sink.Event("", "Target.attachedToTarget", []byte(`{"sessionId":"out","targetInfo":{"type":"iframe","url":"https://b.example/"}}`))
	for _, c := range []struct {
		url, child, method, params string
		passes                     bool
	}{
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://a.example/"}`, true},
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://b.example/"}`, false},
		{"https://x.a.example/", "", "Page.navigate", `{"url":"https://a.example.b.example/"}`, false},
		{"https://x.a.example/", "", "Page.navigate", `{}`, false},
		{"https://x.a.example/", "", "Runtime.evaluate", `{}`, true},
		{"https://x.a.example/", "in", "Runtime.evaluate", `{}`, true},
		{"https://x.a.example/", "out", "Runtime.evaluate", `{}`, false},
		{"https://x.a.example/", "out", "Runtime.enable", `{}`, true},
		{"https://b.example/", "", "Runtime.evaluate", `{}`, false},
		{"https://b.example/", "", "Page.captureScreenshot", `{}`, false},
		{"https://b.example/", "", "Page.navigate", `{"url":"https://a.example/"}`, true},
		{"about:blank", "", "Runtime.evaluate", `{}`, true},
	} {
		b.tabs[0].URL = c.url
		edge.sent = 0
		err := wire.Send(t.Context(), c.child, c.method, []byte(c.params), func([]byte, error) {})
		var refusal *program.CallError
		if passed := err == nil && edge.sent == 1; passed != c.passes || !passed && !errors.As(err, &refusal) {
			t.Errorf("%s %s at %s %s: %v", c.method, c.params, c.url, c.child, err)
		}
	}
}

// held is an edge whose one tab counts what it is sent.
type held struct {
	endpoint.Edge
	endpoint.Sink
	endpoint.Wire
	sink endpoint.Sink
	sent int
}

func (h *held) Hold(_ context.Context, _ string, sink endpoint.Sink) (endpoint.Wire, error) {
	h.sink = sink
	return h, nil
}

func (h *held) Event(string, string, []byte) {}

func (h *held) Send(context.Context, string, string, []byte, func([]byte, error)) error {
	h.sent++
	return nil
}

// BenchmarkRecord is what writing down costs each command; its share of a frame's way is to be small.
func BenchmarkRecord(b *testing.B) {
	r := open(b, session.Limits{})
	r.expose(b, r.interactive(b, session.Spec{}).ID)
	door := r.endpoint.newest()
	c := say(1, "https://a.example/some/path", "Runtime.callFunctionOn", `{"functionDeclaration":"`+strings.Repeat("x", 1000)+`"}`)
	b.ReportAllocs()
	for b.Loop() {
		if err := door.Recorder.Record(c); err != nil {
			b.Fatal(err)
		}
	}
}
