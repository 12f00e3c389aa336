package browse_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/browse"
	"chaperone/server/fault"
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
	all := make([]string, 0, 10_000)
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

// hostile serves pages from which {OTHER} leads to the same server as another site.
func hostile(t *testing.T, all map[string]string) (c *chromium, script, at string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	other := strings.Replace("http://"+server.Listener.Addr().String(), "127.0.0.1", "localhost", 1)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.ReplaceAll(all[r.URL.Path], "{OTHER}", other))
	})
	server.Start()
	t.Cleanup(server.Close)
	return launch(t, "--site-per-process"), pageScript(t), server.URL
}

const pressMe = `<button onclick="document.title='pressed';this.textContent='Pressed'">Press</button>`

func TestClicksStayOutOfOtherDocuments(t *testing.T) {
	const over = `style="position:absolute;inset:0;opacity:.01;border:0"`
	const button = `<div role="button" tabindex="0" style="position:relative;width:100px;height:40px">`
	c, script, at := hostile(t, map[string]string{
		"/frame":  button + `Next<iframe src="{OTHER}/inside" ` + over + `></iframe></div>`,
		"/object": button + `Next<object data="{OTHER}/inside" type="text/html" ` + over + `></object></div>`,
		"/label":  `<input type="checkbox" id="i" style="display:none"><label for="i" style="display:block;position:relative;width:100px;height:40px">Next<iframe src="{OTHER}/inside" ` + over + `></iframe></label>`,
		"/inside": `<body style="margin:0" onmousedown="parent.postMessage('pressed','*')">other`,
	})
	for page, role := range map[string]string{"frame": "button", "object": "button", "label": "checkbox"} {
		d := drive(t, c, script, browse.Options{})
		d.at = at
		d.open(page)
		d.page(`addEventListener("message", (e) => { document.title = e.data })`)
		_ = d.refused(`{"action":"click","role":"`+role+`","name":"Next"}`, fault.Covered)
		if title := d.page("document.title"); title == "pressed" {
			t.Errorf("%s: the other document was pressed", page)
		}
	}
}

func TestWhatCoversAFrameCoversWhatIsInIt(t *testing.T) {
	const cover = `<div id="cover" style="position:fixed;inset:0;opacity:.01"></div>`
	c, script, at := hostile(t, map[string]string{
		"/":       `<div style="height:2000px">Far up</div><iframe src="{OTHER}/middle" width="400" height="200"></iframe><div style="height:2000px"></div>` + cover,
		"/shadow": `<div id="host"></div><script>host.attachShadow({mode:"closed"}).innerHTML = '<iframe src="{OTHER}/inside" width="400" height="200"></iframe>'</script>` + cover,
		"/middle": `<div style="height:500px"></div><iframe src="/inside" style="border:3px solid;padding:7px"></iframe>`,
		"/inside": `<div style="height:900px"></div>` + pressMe,
	})
	for _, page := range []string{"", "shadow"} {
		d := drive(t, c, script, browse.Options{})
		d.at = at
		d.open(page)
		press := fmt.Sprintf(`{"action":"click","ref":%q}`, d.ref("Press"))
		_ = d.refused(press, fault.Covered)
		d.page(`document.getElementById("cover").remove()`)
		if r := d.do(press); r.Landed == nil || !*r.Landed || !strings.Contains(d.last, "Pressed") {
			t.Errorf("%q: %+v\n%s", page, r, d.last)
		}
	}
}

func TestAPageCannotHideThatAClickCame(t *testing.T) {
	const stop = `<script>for (const type of ["mousedown", "click"]) addEventListener(type, (e) => { document.title += type; e.stopImmediatePropagation(); }, true)</script>`
	c, script, at := hostile(t, map[string]string{
		"/":       stop + `<button>Go</button>`,
		"/opens":  `<button onclick='document.open(); document.write(again); document.close()'>Open</button><script>again = ` + "`" + strings.ReplaceAll(stop, "</script>", `<\/script>`) + "`" + ` + "<button>Go</button>"</script>`,
		"/frames": `<iframe src="{OTHER}/"></iframe>`,
	})
	d := drive(t, c, script, browse.Options{})
	d.at = at
	d.open("")
	if r := d.do(`{"action":"click","role":"button","name":"Go"}`); r.Landed == nil || !*r.Landed {
		t.Errorf("%+v", r)
	}
	d.open("opens")
	d.do(`{"action":"click","role":"button","name":"Open"}`)
	untold(t, d.do(`{"action":"click","role":"button","name":"Go"}`))
	d.open("frames")
	untold(t, d.do(`{"action":"click","role":"button","name":"Go"}`))

	late := c.page(script, at+"/")
	s := late.snapshot(map[string]any{})
	var told struct{ Landed, Unsure bool }
	var where point
	late.into(&where, "@locate", map[string]any{"target": map[string]any{"doc": s.Doc, "node": s.named(t, "button", "Go").Node}})
	late.press(s.Doc, where)
	if late.into(&told, "@landed", map[string]any{"doc": s.Doc, "at": where.At}); told.Landed || !told.Unsure {
		t.Errorf("%+v", told)
	}
}

// untold is an answer that knows that a click was sent, and no more.
func untold(t *testing.T, r browse.Result) {
	t.Helper()
	if r.Landed != nil || !strings.Contains(strings.Join(r.Notices, " "), "Do not click again") {
		t.Errorf("%+v", r)
	}
}

func TestALabelSubmitsWhatItsButtonSubmits(t *testing.T) {
	const post = `<form method="post"><button id="b">Send</button></form>`
	c, script, at := hostile(t, map[string]string{
		"/for":    post + `<label for="b" tabindex="0">Agree</label>`,
		"/around": `<form method="post"><label tabindex="0"><i>Agree</i> <button style="margin-left:200px">Send</button></label></form>`,
		"/within": post + `<div role="button" tabindex="0"><label for="b" style="display:block">Agree</label></div>`,
		"/get":    `<form><button id="b" type="button">Send</button></form><label for="b" tabindex="0">Agree</label>`,
	})
	for page, refused := range map[string]bool{"for": true, "around": true, "within": true, "get": false} {
		p := c.page(script, at+"/"+page)
		var node float64
		for _, l := range p.snapshot(map[string]any{}).Lines {
			if strings.Contains(l.Name, "Agree") {
				node = float64(l.Node)
			}
		}
		a := p.run("@locate", map[string]any{"target": map[string]any{"doc": p.snapshot(map[string]any{}).Doc, "node": node}, "read_only": true})
		if got := a.Error != nil && a.Error.Code == "form_refused"; got != refused {
			t.Errorf("%s: %+v", page, a)
		}
	}
}

func TestFramesThatHangCostLittleTogether(t *testing.T) {
	c, script, at := hostile(t, map[string]string{
		"/hang":   `<button>Ours</button>` + strings.Repeat(`<iframe src="{OTHER}/stuck"></iframe>`, 40),
		"/grow":   `<button>Ours</button><script>setInterval(() => document.body.append(Object.assign(document.createElement("iframe"), {src: "{OTHER}/inside"})), 10)</script>`,
		"/stuck":  `<script>onload = () => setTimeout(() => { const end = Date.now() + 8000; while (Date.now() < end); }, 1500)</script>`,
		"/inside": `inside`,
	})
	for _, page := range []string{"hang", "grow"} {
		d := drive(t, c, script, browse.Options{})
		d.at = at
		d.open(page)
		d.do(`{"action":"wait","ms":1500,"snapshot":"none"}`) // by then they hang
		start := time.Now()
		r := d.do(`{"action":"snapshot"}`)
		if took := time.Since(start); took > 6*time.Second || !strings.Contains(r.Snapshot.Text, "Ours") {
			t.Errorf("%s took %v: %s", page, took, r.Snapshot.Text)
		}
		if !strings.Contains(strings.Join(r.Notices, " "), "left out") {
			t.Errorf("%s: %q", page, r.Notices)
		}
		d.page(`(() => { for (const f of document.querySelectorAll("iframe")) f.remove(); for (let i = 0; i < 99; i++) clearInterval(i) })()`)
	}
}

func TestADocumentThatIsWrittenAnewIsNotWaitedFor(t *testing.T) {
	const write = `document.open(); document.write("<title>New</title><p>New <button>Go on</button>")`
	c, script, at := hostile(t, map[string]string{
		"/open":   `<button onclick='` + write + `'>Write</button>`,
		"/closed": `<button onclick='` + write + `; document.close()'>Write</button>`,
		"/later":  `<button onclick='setTimeout(() => { ` + write + ` }, 50)'>Write</button>`,
	})
	for _, page := range []string{"open", "closed", "later"} {
		d := drive(t, c, script, browse.Options{})
		d.at = at
		d.open(page)
		start := time.Now()
		r := d.do(`{"action":"click","role":"button","name":"Write"}`)
		if page == "later" {
			r = d.do(`{"action":"wait","text":"Go on"}`)
		}
		if took := time.Since(start); took > 3*time.Second || !strings.Contains(d.last, "Go on") {
			t.Errorf("%s took %v: %+v %s", page, took, r, d.last)
		}
	}
}
