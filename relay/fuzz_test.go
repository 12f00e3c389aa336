package relay_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"chaperone/relay"
	"chaperone/relay/program"
)

// Whatever is taken has unique tabs of known levels, and a body that is the message's own bytes after the
// first line.
func FuzzScanFrame(f *testing.F) {
	for _, seed := range []string{
		`{"t":"ping"}`, `{"t":"result","id":7}` + "\n" + `{"tab":"t1","steps":[]}`, `{"t":"picture","id":9,"at_ms":1}` + "\n" + `/9j/`,
		`{"t":"tabs","tabs":[{"id":"t1","level":"read"},{"id":"t1","level":"act"}]}`, `{"t":"tabs","tabs":null}`,
		"\n\n", `{"t":"ping"`, `{"t":"ping"} {}`, `[]`, `{"t":7}`, `{"id":1e99}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		tabs, body, err := relay.ScanFrame(message)
		if err != nil {
			return
		}
		line, rest, _ := bytes.Cut(message, []byte("\n"))
		if !bytes.Equal(body, rest) || !json.Valid(line) {
			t.Errorf("line %q, body %q", line, body)
		}
		wantFitTabs(t, tabs)
	})
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
