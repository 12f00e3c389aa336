package browse_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// names are the identifiers of the page script and of what it is built on: each may be a property that it reads.
func names(t *testing.T) []string {
	t.Helper()
	var sources []string
	for _, pattern := range []string{"../../extension/src/page/*.ts", "../../node_modules/dom-accessibility-api/dist/*.mjs"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		sources = append(sources, found...)
	}
	var all []string
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, regexp.MustCompile(`\b[a-zA-Z]\w+\b`).FindAllString(string(text), -1)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// clobbering is a page whose forms have a field of each name, as has each image of the document; the last form has all.
func clobbering(names []string) string {
	var page strings.Builder
	page.WriteString(`<title>Names</title><p>First</p><a id="chaperone" href="#">Ours</a>`)
	var all strings.Builder
	for _, name := range names {
		fmt.Fprintf(&page, `<form><input name="%[1]s" aria-label="field %[1]s"><button type="button">press %[1]s</button>text %[1]s</form>`, name)
		fmt.Fprintf(&page, `<div role="button"><form><input name="%[1]s" type="hidden"><i>inner %[1]s</i></form></div><img name="%[1]s" alt="">`, name)
		fmt.Fprintf(&all, `<input name="%s" type="hidden">`, name)
	}
	fmt.Fprintf(&page, `<form id="all" style="overflow:auto;height:100px">%s<p contenteditable id="edit">Edit</p><input aria-label="Held" value="it">`, all.String())
	page.WriteString(`<button type="button" onclick="zzz='pressed'">Last</button><div style="height:900px"></div></form>`)
	return page.String()
}

func pages(t *testing.T, all map[string]string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(all[r.URL.Path]))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestNamesOfFieldsHideNothing(t *testing.T) {
	all := names(t)
	script, site := pageScript(t), pages(t, map[string]string{"/": clobbering(all)})
	p := launch(t).page(script, site+"/")
	s := p.snapshot(map[string]any{"budget": 4 << 20, "full": true})
	var text struct{ Text string }
	p.into(&text, "@text", map[string]any{"limit": 4 << 20})
	seen := s.String()
	for _, name := range all {
		for _, want := range []string{fmt.Sprintf("textbox %q", "field "+name), fmt.Sprintf("button %q", "press "+name), fmt.Sprintf("button %q", "inner "+name)} {
			if !strings.Contains(seen, want) {
				t.Errorf("the snapshot has no %s", want)
			}
		}
		if !strings.Contains(text.Text, "text "+name) {
			t.Errorf("the text has no %q", "text "+name)
		}
	}
	var found struct{ Total int }
	if p.into(&found, "@find", map[string]any{"role": "button", "name": "Last"}); found.Total != 1 {
		t.Errorf("found %d", found.Total)
	}
	last := s.named(t, "button", "Last")
	if !p.click(s.Doc, last.Node) {
		t.Error("the click did not land")
	}
	p.expect("zzz", "pressed")
	target := map[string]any{"doc": s.Doc, "node": s.named(t, "textbox", "Held").Node}
	var focused struct{ Done bool }
	p.into(&focused, "@focus", map[string]any{"target": target, "select": true})
	var value struct{ Value string }
	if p.into(&value, "@value", map[string]any{"target": target}); value.Value != "it" {
		t.Errorf("the field holds %q", value.Value)
	}
	var scrolled struct{ Moved int }
	if p.into(&scrolled, "@scroll", map[string]any{"to": "down", "node": target}); scrolled.Moved == 0 {
		t.Error("the form did not scroll")
	}
}

func TestElementsOfOtherDocumentsHideNothing(t *testing.T) {
	script, site := pageScript(t), pages(t, map[string]string{
		"/":       `<p>First</p><iframe src="/inside"></iframe>`,
		"/inside": `<form id="f"><label>City <input value="Bern"></label><button type="button" onclick="parent.document.title='pressed'">Go</button>Some text</form>`,
	})
	p := launch(t).page(script, site+"/")
	p.eval(`document.querySelector("iframe").contentDocument.body.offsetTop`)
	var tree struct {
		FrameTree struct {
			ChildFrames []struct{ Frame struct{ ID string } }
		}
	}
	decode(t, p.must(p.session, "Page.getFrameTree", map[string]any{}), &tree)
	var inner struct{ ExecutionContextID float64 }
	decode(t, p.must(p.session, "Page.createIsolatedWorld", map[string]any{"frameId": tree.FrameTree.ChildFrames[0].Frame.ID, "worldName": "chaperone"}), &inner)
	// What the script has met in the frame keeps that window's classes when it comes over.
	p.must(p.session, "Runtime.evaluate", map[string]any{"expression": script + ";chaperone('@snapshot', {budget: 1000})", "contextId": inner.ExecutionContextID})
	p.eval(`document.body.append(document.querySelector("iframe").contentDocument.getElementById("f"))`)
	s := p.snapshot(map[string]any{"full": true})
	if s.named(t, "textbox", "City").Value != "Bern" || !strings.Contains(s.String(), "Some text") {
		t.Errorf("the form reads\n%s", s)
	}
	if !p.click(s.Doc, s.named(t, "button", "Go").Node) {
		t.Error("the click did not land")
	}
	p.expect("document.title", "pressed")
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func TestAriaThatLeadsInCirclesIsBorne(t *testing.T) {
	script, site := pageScript(t), pages(t, map[string]string{
		"/": `<div role="button" id="a" aria-owns="b">One</div><div role="link" id="b" tabindex="0" aria-owns="a c">Two</div><h2 id="c" aria-owns="c b"></h2>`,
	})
	s := launch(t).page(script, site+"/").snapshot(map[string]any{})
	if !strings.Contains(s.String(), "One") || !strings.Contains(s.String(), "Two") {
		t.Errorf("the page reads\n%s", s)
	}
}
