package session_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"chaperone/relay/endpoint"
	"chaperone/server/account"
	"chaperone/server/ledger"
	"chaperone/server/session"
)

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
		if err := door.Recorder.Record(say(1, "http://a.example/", "Page.m"+strconv.Itoa(i), `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	d := detail(t, r.used(t, 1)[0])
	if d["commands"] != "200" || d["other"] != strconv.Itoa(200-63) {
		t.Errorf("the detail is %v", d)
	}
}

func TestEveryClientsDigestIsInARow(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{}).ID)
	door := r.endpoint.newest()
	const clients = 100
	for i := range clients {
		if err := door.Recorder.Record(say(i, "http://a.example/", "Page.enable", `{}`)); err != nil {
			t.Fatal(err)
		}
	}
	has := map[string]bool{}
	commands := 0
	for _, row := range r.used(t, 4) {
		d := detail(t, row)
		n, _ := strconv.Atoi(d["commands"])
		commands += n
		for name := range d {
			if strings.HasPrefix(name, "client.") {
				has[name] = true
			}
		}
	}
	if len(has) != clients || commands != clients {
		t.Errorf("%d clients' digests and %d commands are in the rows of %d", len(has), commands, clients)
	}
}

func TestWhatIsRefusedPutsNoHostOfItsOwnIntoTheLedger(t *testing.T) {
	r := open(t, session.Limits{})
	r.expose(t, r.interactive(t, session.Spec{AllowDomains: []string{"a.example"}}).ID)
	door := r.endpoint.newest()
	refused := say(1, "http://a.example/", "Page.navigate", `{"url":"http://any-words.example/"}`)
	refused.Refused = true
	for _, c := range []endpoint.Command{
		refused,
		say(1, "http://a.example/", "Page.navigate", `{"url":"http://not-allowed.example/"}`),
	} {
		if err := door.Recorder.Record(c); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range r.used(t, 1) {
		if row.Peer != "a.example" {
			t.Errorf("a row is of %q", row.Peer)
		}
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
