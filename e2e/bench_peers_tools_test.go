package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// move is one thing that an operator does. Look says that the operator has to see what became of it: some tools show it
// anyway, the others are asked for it.
type move struct {
	verb  string // open, snapshot, find, click, fill, select, check, text, screenshot; status: only what the page says of itself; within: one element
	ref   string
	value string
	look  bool
}

// tool is a peer as an operator has it: a move in, what it answers out, as a model reads it.
type tool interface {
	do(b *testing.B, m move) string
}

// refIn finds the ref by which a tool's answer names an element: the first whose line says the role and name, at or after
// the last line that has the mark.
func refIn(answer, mark, role, name string) (string, bool) {
	if mark != "" {
		at := strings.LastIndex(answer, mark)
		if at < 0 {
			return "", false
		}
		answer = answer[at:]
	}
	for line := range strings.Lines(answer) {
		if !strings.Contains(line, fmt.Sprintf("%s %q", role, name)) {
			continue
		}
		if found := refInLine.FindStringSubmatch(line); found != nil {
			return found[1], true
		}
	}
	return "", false
}

var refInLine = regexp.MustCompile(`(?:\[ref=|uid=|ref=)([\w-]+)`)

// overHTTP is Chaperone's API; an answer is its JSON.
type overHTTP struct {
	server  *benchServer
	session string
}

func (t overHTTP) do(b *testing.B, m move) string {
	b.Helper()
	var answer json.RawMessage
	must(b, t.server.agent.Ask(b.Context(), "POST", "/sessions/"+t.session+"/actions", m.action(), &answer))
	return string(answer)
}

// action is the move as Chaperone's API and its MCP tool take it.
func (m move) action() action {
	a := action{"action": m.verb}
	switch m.verb {
	case "open":
		a["url"] = m.value
		if !m.look {
			a["snapshot"] = "none"
		}
	case "find", "status":
		a["action"], a["text"] = "snapshot", m.value
	case "text":
		a["action"] = "get_text"
	case "fill":
		a["text"] = m.value
	case "select":
		a["values"] = []string{m.value}
	}
	if m.ref != "" {
		a["ref"] = m.ref
	}
	return a
}

// commandLine is a command that is run for each move.
type commandLine struct {
	path, folder string
	env          []string
	words        func(m move) [][]string
}

func (t commandLine) do(b *testing.B, m move) string {
	b.Helper()
	var all strings.Builder
	for _, words := range t.words(m) {
		cmd := exec.CommandContext(b.Context(), t.path, words...)
		cmd.Env, cmd.Dir = append(os.Environ(), t.env...), t.folder
		var errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &all, &errs
		if err := cmd.Run(); err != nil {
			b.Fatalf("%s %v: %v\n%s%s", filepath.Base(t.path), words, err, all.String(), errs.String())
		}
	}
	return all.String()
}

func chaperoneWords(session, folder string) func(m move) [][]string {
	return func(m move) [][]string {
		words := []string{"browse", "--session", session, m.verb}
		switch m.verb {
		case "open":
			words = append(words, m.value)
			if !m.look {
				words = append(words, "--show", "none")
			}
		case "find", "status":
			words[3] = "snapshot"
			words = append(words, "--text", m.value)
		case "screenshot":
			words = append(words, filepath.Join(folder, "page.png"))
		case "fill", "select":
			words = append(words, m.ref, m.value)
		case "click", "check":
			words = append(words, m.ref)
		}
		return [][]string{words}
	}
}

// statusSelector spares the peers that need one a snapshot.
const statusSelector = "p[role=status]"

func agentBrowserWords(folder string) func(m move) [][]string {
	return func(m move) [][]string {
		words := []string{m.verb}
		switch m.verb {
		case "open":
			words = append(words, m.value)
		case "snapshot":
			return [][]string{{"snapshot", "-i"}}
		case "find": // what is interactive has no rows
			return [][]string{{"snapshot"}}
		case "status":
			return [][]string{{"get", "text", statusSelector}}
		case "text":
			return [][]string{{"get", "text", "body"}}
		case "screenshot":
			words = append(words, filepath.Join(folder, "page.png"))
		case "fill", "select":
			words = append(words, "@"+m.ref, m.value)
		case "click", "check":
			words = append(words, "@"+m.ref)
		}
		if m.look {
			return [][]string{words, {"snapshot", "-i", "-c"}}
		}
		return [][]string{words}
	}
}

// mcpTool is a tool behind MCP over stdio; calls says which of its tools makes the move.
type mcpTool struct {
	client *mcpClient
	calls  func(m move) (name string, arguments action)
}

func (t mcpTool) do(b *testing.B, m move) string {
	b.Helper()
	name, arguments := t.calls(m)
	return t.client.call(b, name, arguments)
}

func chaperoneCalls(m move) (string, action) { return "browse", m.action() }

func playwrightCalls(m move) (string, action) {
	at := action{"element": "it", "target": m.ref}
	with := func(more action) action { maps.Copy(at, more); return at }
	switch m.verb {
	case "open":
		return "browser_navigate", action{"url": m.value}
	case "click", "check":
		return "browser_click", at
	case "fill":
		return "browser_type", with(action{"text": m.value})
	case "select":
		return "browser_select_option", with(action{"values": []string{m.value}})
	case "find", "status":
		return "browser_find", action{"text": m.value}
	case "within":
		return "browser_snapshot", action{"target": m.ref}
	case "text":
		return "browser_evaluate", action{"function": "() => document.body.innerText"}
	case "screenshot":
		return "browser_take_screenshot", action{"type": "png", "scale": "css"}
	default:
		return "browser_snapshot", action{}
	}
}

func devtoolsCalls(page int) func(m move) (string, action) {
	return func(m move) (string, action) {
		with := func(more action) action { more["pageId"] = page; return more }
		switch m.verb {
		case "open":
			return "navigate_page", with(action{"type": "url", "url": m.value})
		case "click", "check":
			return "click", with(action{"uid": m.ref, "includeSnapshot": m.look})
		case "fill", "select":
			return "fill", with(action{"uid": m.ref, "value": m.value, "includeSnapshot": m.look})
		case "status":
			return "evaluate_script", with(action{"function": "() => document.querySelector('" + statusSelector + "').innerText"})
		case "text":
			return "evaluate_script", with(action{"function": "() => document.body.innerText"})
		case "screenshot":
			return "take_screenshot", with(action{})
		default:
			return "take_snapshot", with(action{})
		}
	}
}

// opened has a tool show the page it has just opened, where its answer does not.
type opened struct{ tool }

func (t opened) do(b *testing.B, m move) string {
	b.Helper()
	answer := t.tool.do(b, m)
	if m.verb == "open" && m.look {
		answer += t.tool.do(b, move{verb: "snapshot"})
	}
	return answer
}

// filed has the operator read the snapshot that an answer only names a file of.
type filed struct {
	tool
	folder string
}

func (t filed) do(b *testing.B, m move) string {
	b.Helper()
	answer := t.tool.do(b, m)
	if named := fileInAnswer.FindStringSubmatch(answer); m.look && named != nil {
		raw, err := os.ReadFile(filepath.Join(t.folder, named[1]))
		must(b, err)
		answer += string(raw)
	}
	return answer
}

var fileInAnswer = regexp.MustCompile(`\[Snapshot\]\(([^)]+)\)`)

// pinned are the peers' versions.
func pinned(b *testing.B) map[string]string {
	b.Helper()
	raw, err := os.ReadFile("clients/package.json")
	must(b, err)
	var manifest struct{ Dependencies map[string]string }
	must(b, json.Unmarshal(raw, &manifest))
	return manifest.Dependencies
}

func module(parts ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"clients", "node_modules"}, parts...)...))
	return cmp.Or(path, fmt.Sprint(err))
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// node runs a peer's script.
func node(ctx context.Context, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = folder
	return cmd
}
