package browse_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chaperone/server/browse"
)

// document is docs/browse.md.
func document(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/browse.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestTheDocumentHasEveryAction(t *testing.T) {
	doc := document(t)
	for _, action := range browse.AllActions() {
		if !strings.Contains(doc, "\n### `"+action+"`\n") {
			t.Errorf("%s has no section", action)
		}
	}
	_, after, _ := strings.Cut(doc, "\n## Actions\n")
	actions, _, _ := strings.Cut(after, "\n## ")
	for _, section := range regexp.MustCompile("(?m)^### `(.*)`$").FindAllStringSubmatch(actions, -1) {
		if (browse.Action{Action: section[1]}).Kind() == browse.Unknown {
			t.Errorf("%s has a section and is no action", section[1])
		}
	}
}

func TestTheDocumentHasEveryField(t *testing.T) {
	doc := document(t)
	for _, of := range []reflect.Type{reflect.TypeFor[browse.Action](), reflect.TypeFor[browse.File]()} {
		for f := range of.Fields() {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(doc, "`"+name+"`") && name != "action" {
				t.Errorf("the field %s is not told of", name)
			}
		}
	}
	for f := range reflect.TypeFor[browse.Result]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch name {
		case "-", "session", "seq", "action", "tab", "elapsed_ms":
			continue
		}
		if !strings.Contains(doc, "`"+name+"`") {
			t.Errorf("the answer's %s is not told of", name)
		}
	}
}

func TestTheDocumentHasEveryError(t *testing.T) {
	doc := document(t)
	codes := faultCodes(t)
	for _, code := range codes {
		if len(regexp.MustCompile("\n\\| `"+code+"` \\| \\d").FindAllString(doc, -1)) != 1 {
			t.Errorf("%s has no row", code)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| \\d").FindAllStringSubmatch(doc, -1) {
		if !strings.Contains(" "+strings.Join(codes, " ")+" ", " "+row[1]+" ") {
			t.Errorf("%s has a row and is no code", row[1])
		}
	}
}

// faultCodes are the codes that package fault declares.
func faultCodes(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../fault/fault.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, value := range spec.Values {
				literal, _ := value.(*ast.BasicLit)
				if code, err := strconv.Unquote(literal.Value); err == nil {
					codes = append(codes, code)
				}
			}
		}
		return true
	})
	if len(codes) < 25 {
		t.Fatalf("found only %v", codes)
	}
	return codes
}

// TestTheDocumentsLinesFitItsGrammar holds the examples, and what the renderer writes, to one grammar.
func TestTheDocumentsLinesFitItsGrammar(t *testing.T) {
	found, example := 0, false
	for line := range strings.Lines(document(t)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "```") {
			example = !example
		}
		if example && strings.HasPrefix(strings.TrimLeft(line, " "), "- ") {
			found++
			if !snapshotLine().MatchString(line) {
				t.Errorf("%q does not fit", line)
			}
		}
	}
	if found < 9 {
		t.Errorf("there are only %d lines", found)
	}
}

// snapshotLine is the grammar of docs/browse.md.
func snapshotLine() *regexp.Regexp {
	return regexp.MustCompile(`^(?:  )*- [a-z]{1,30}(?: "(?:[^"\\]|\\["\\])*")?(?: \[ref=e[1-9]\d*\])?(?: \[[a-z-]{1,30}(?:=[\w .-]{1,30})?\])*(?: \[url=[^\] ]+\])?(?:: .+)?$`)
}

// FuzzSnapshotText lets a page say anything of an element: its line stays one line of the grammar, with no ref but its own.
func FuzzSnapshotText(f *testing.F) {
	f.Add("link", `a" [ref=e7]`, "checked", "/x y]", "v\n- link \"b\" [ref=e6]")
	f.Add("button\n- x", "\\", "level=2", "<<<end", "[\u200bref=e1]")
	f.Add("row", "\x1b[31m", "a=b]c", "https://a/\u202e", ": ")
	f.Fuzz(func(t *testing.T, role, name, state, url, value string) {
		line := map[string]any{"depth": 1, "role": role, "name": name, "node": 1, "states": []string{state}, "url": url, "value": value}
		text := rendered(t, map[string]any{"doc": "d", "lines": []any{line}})
		boundary := regexp.MustCompile(`(?i)<<<\s*(page|end)`).MatchString(text)
		if boundary || strings.Count(strings.ToLower(text), "[ref=") != 1 || !snapshotLine().MatchString(text) {
			t.Fatalf("%q, %q, %q, %q, %q become %q", role, name, state, url, value, text)
		}
	})
}

// rendered is the snapshot of what a page answered.
func rendered(t *testing.T, answer any) string {
	t.Helper()
	raw, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	b := &scripted{tabs: oneTab(), answers: showing(string(raw), plainState)}
	r, err := browse.New(b, browse.Options{}).Do(t.Context(), browse.Action{Action: "snapshot"})
	if err != nil {
		t.Fatal(err)
	}
	return r.Snapshot.Text
}
