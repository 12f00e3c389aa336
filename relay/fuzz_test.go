package relay_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"chaperone/relay"
	"chaperone/relay/program"
)

// Whatever is taken has unique tabs of known levels, names that need no escaping in JSON, and a body that is the message's own bytes after the
// first line.
func FuzzScanFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"ping"}`, `{"t":"result","id":7}` + "\n" + `{"tab":"t1","steps":[]}`, `{"t":"picture","id":9,"at_ms":1}` + "\n" + `/9j/`,
		`{"t":"tabs","tabs":[{"id":"t1","level":"read"},{"id":"t1","level":"act"}]}`, `{"t":"tabs","tabs":null}`,
		`{"t":"reply","id":9}`, `{"t":"reply","id":123456789012345}` + "\n{}", `{"t":"reply","id":09}`, `{"t":"reply","id":1e3}`,
		`{"t":"reply","id":}`, `{"t":"reply","id":9,"id":8}`, `{"t":"reply","id":12345678901234567890}`, `{"t":"reply","id":7} `,
		"\n\n", `{"t":"ping"`, `{"t":"ping"} {}`, `[]`, `{"t":7}`, `{"id":1e99}`,
		`{"t":"event","tab":"t1","child":"C1","method":"Page.frameNavigated"}` + "\n" + `{"frame":{}}`,
		`{"t":"reply","id":9,"error":{"code":-32000,"message":"no"}}`, `{"t":"held","id":8,"tab":"t1","target":"T\u0031"}`,
		`{"t":"asleep","tab":"t1","code":"tab_suspended","message":"x"}`, `{"t":"made","id":10,"tab":"t5"}`,
		`{"t":"tabs","tabs":[{"id":"t1","level":"act","target":"T1"}]}`, `{"t":"event","tab":"t1","method":"A\",\"b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		scanned, err := relay.ScanFrame(message)
		if err != nil {
			return
		}
		line, rest, _ := bytes.Cut(message, []byte("\n"))
		if !bytes.Equal(scanned.Body, rest) || !json.Valid(line) {
			t.Errorf("line %q, body %q", line, scanned.Body)
		}
		var head struct {
			T  string `json:"t"`
			ID int64  `json:"id"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.T != scanned.Kind || head.ID != scanned.ID {
			t.Errorf("line %q read as %s %d: %v", line, scanned.Kind, scanned.ID, err)
		}
		wantFitTabs(t, scanned.Tabs)
		for _, name := range scanned.Names {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:") != "" || len(name) > 128 {
				t.Errorf("name %q", name)
			}
		}
	})
}

// Whatever a browser says of one session's tab, nobody hears of it but that session, and each command is answered
// exactly once.
func FuzzHostileExtension(f *testing.F) {
	for _, seed := range []string{
		`{"t":"event","tab":"t1","method":"Page.event"}` + "\n{}", `{"t":"reply","id":3}` + "\n{}", `{"t":"reply","id":4}` + "\n{}",
		`{"t":"reply","id":3,"error":{"code":1,"message":"no"}}`, `{"t":"error","id":3,"code":"forbidden"}`,
		`{"t":"held","id":1,"tab":"t2","target":"T"}`, `{"t":"held","tab":"t1","target":"T"}`, `{"t":"asleep","tab":"t1"}`,
		`{"t":"tabs","tabs":[]}`, `{"t":"tabs","tabs":[{"id":"t1","level":"act","session":"s_2"}]}`, `{"t":"disconnect"}`,
		`{"t":"event","tab":"t1","child":"C","method":"A.b"}` + "\n[]", `{"t":"held","id":4,"tab":"t1"}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	hub := relay.NewHub(relay.Options{Authority: newAuthority()})
	f.Cleanup(func() { _ = hub.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, first, second []byte) {
		link, one, two := feed(t, hub)
		for _, message := range [][]byte{first, second} {
			heard := len(two.lines)
			if link.Take(message) != nil {
				break
			}
			wantNothingForeign(t, message, two.lines[heard:])
		}
		link.End()
		hub.Disconnect(account, project, relay.ReasonReset)
		for _, s := range []*sink{one, two} {
			if n := strings.Count(strings.Join(s.lines, "\n"), "A.b"); n != 1 {
				t.Errorf("a command was answered %d times: %q", n, s.lines)
			}
		}
	})
}

// wantNothingForeign holds what s_2 heard of a frame against what the frame is about.
func wantNothingForeign(t *testing.T, message []byte, heard []string) {
	t.Helper()
	var head struct {
		T   string `json:"t"`
		Tab string `json:"tab"`
		ID  int64  `json:"id"`
	}
	line, _, _ := bytes.Cut(message, []byte("\n"))
	if err := json.Unmarshal(line, &head); err != nil {
		t.Fatalf("taken, but not readable: %q", line)
	}
	for _, said := range heard {
		isReply := strings.HasPrefix(said, "A.b") && (head.ID == 4 || head.T == "asleep" || head.T == "held" || head.T == "tabs")
		if !isReply && head.Tab != "t2" && head.T != "tabs" {
			t.Errorf("%s, of %q", said, line)
		}
	}
}

// Whatever is taken proves one text only: a project without the separator and a nonce in its one spelling.
func FuzzReadHello(f *testing.F) {
	for _, hello := range []object{honest().hello(nonce()), honest().hello("short"), {"t": "hello", "v": 2}} {
		seed, err := json.Marshal(hello)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		project, nonce, err := relay.ReadHello(message)
		if err != nil {
			return
		}
		bytes32, err := base64.RawURLEncoding.DecodeString(nonce)
		if err != nil || len(bytes32) != 32 || base64.RawURLEncoding.EncodeToString(bytes32) != nonce {
			t.Errorf("nonce %q", nonce)
		}
		if project == "" || strings.ContainsAny(project, "|\n \"\\") {
			t.Errorf("project %q", project)
		}
	})
}

func FuzzReadProof(f *testing.F) {
	f.Add([]byte(`{"t":"proof","mac":"x","tabs":[{"id":"t1","level":"read","url":"https://example.com/"}]}`))
	f.Add([]byte(`{"t":"proof","mac":1}`))
	f.Add([]byte(`{"t":"hello"}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		if _, tabs, err := relay.ReadProof(message); err == nil {
			wantFitTabs(t, tabs)
		}
	})
}

func wantFitTabs(t *testing.T, tabs []program.Tab) {
	t.Helper()
	seen := map[string]bool{}
	for _, tab := range tabs {
		if tab.ID == "" || tab.ID == program.NewTab || seen[tab.ID] || (tab.Level != program.LevelRead && tab.Level != program.LevelAct) {
			t.Errorf("tabs %+v", tabs)
		}
		seen[tab.ID] = true
	}
}
