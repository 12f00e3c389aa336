package browse_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type line struct {
	Depth  int
	Role   string
	Name   string
	Node   int
	States []string
	Value  string
	URL    string
	Frame  bool
}

func (l line) String() string {
	text := strings.Repeat("  ", l.Depth) + l.Role
	if l.Name != "" {
		text += fmt.Sprintf(" %q", l.Name)
	}
	if len(l.States) > 0 {
		text += " " + strings.Join(l.States, ",")
	}
	if l.Value != "" {
		text += ": " + l.Value
	}
	return text
}

type shot struct {
	Doc   string
	Lines []line
	More  int
}

func (s shot) String() string {
	var out strings.Builder
	for _, l := range s.Lines {
		out.WriteString(l.String() + "\n")
	}
	return out.String()
}

func (s shot) named(t *testing.T, role, name string) line {
	t.Helper()
	for _, l := range s.Lines {
		if l.Role == role && l.Name == name {
			return l
		}
	}
	t.Fatalf("no %s %q in\n%s", role, name, s)
	return line{}
}

func (p *tab) snapshot(args map[string]any) shot {
	p.t.Helper()
	if args["budget"] == nil {
		args["budget"] = 12000
	}
	var s shot
	p.into(&s, "@snapshot", args)
	return s
}

type point struct{ X, Y, At float64 }

// click locates an element, presses it as a person would, and tells whether that landed.
func (p *tab) click(doc string, node int) bool {
	p.t.Helper()
	var at point
	p.into(&at, "@locate", map[string]any{"target": map[string]any{"doc": doc, "node": node}})
	return p.press(doc, at)
}

func (p *tab) press(doc string, at point) bool {
	p.t.Helper()
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}
		if kind == "mouseMoved" {
			params["button"], params["clickCount"] = "none", 0
		}
		p.must(p.session, "Input.dispatchMouseEvent", params)
	}
	var landed struct{ Landed bool }
	p.into(&landed, "@landed", map[string]any{"doc": doc, "at": at.At})
	return landed.Landed
}

func (p *tab) expect(expression, want string) {
	p.t.Helper()
	if got := p.eval(expression); got != want {
		p.t.Errorf("%s is %q, want %q", expression, got, want)
	}
}

func TestPageScript(t *testing.T) {
	script, site := pageScript(t), serve(t)
	c := launch(t)
	cases := map[string]func(p *tab){
		"label-wraps-hidden-radio.html":  hiddenRadio,
		"one-pixel-toggle.html":          onePixelToggle,
		"shadow-open-slots.html":         shadowSlots,
		"aria-hidden-and-inert.html":     ariaHidden,
		"hidden-text.html":               hiddenText,
		"stale-resort.html":              recycledRow,
		"stale-resort.html?moved=1":      movedRow,
		"svg-link-and-wrapped-link.html": oddLinks,
		"consent-overlay.html":           consent,
		"offscreen-click.html":           offscreen,
		"huge-page.html":                 huge,
		"forms.html":                     forms,
		"fields.html":                    fields,
		"panes.html":                     panes,
		"drawing.svg":                    drawing,
		"frames.html":                    frames,
	}
	for page, check := range cases {
		t.Run(page, func(t *testing.T) {
			c.t = t
			check(c.page(script, site+"/"+page))
		})
	}
}

func hiddenRadio(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	for _, name := range []string{"Morning", "Noon", "Evening"} {
		s.named(t, "radio", name)
	}
	if strings.Contains(s.String(), "generic") || strings.Count(s.String(), "Evening") != 1 {
		t.Errorf("a label stands beside its radio:\n%s", s)
	}
	if !p.click(s.Doc, s.named(t, "radio", "Evening").Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "slot=evening")
	if after := p.snapshot(map[string]any{}).named(t, "radio", "Evening"); strings.Join(after.States, " ") != "checked" {
		t.Errorf("Evening is %v, want checked", after.States)
	}
}

func onePixelToggle(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if !p.click(s.Doc, s.named(t, "checkbox", "Publish product").Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "on changes=1")
}

func shadowSlots(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	s.named(t, "heading", "Find a parcel")
	s.named(t, "textbox", "Reference")
	for _, word := range []string{`button "Track"`, `combobox "Mode"`, "Find a parcel"} {
		if strings.Count(s.String(), word) != 1 {
			t.Errorf("%s is not there once:\n%s", word, s)
		}
	}
	p.into(&struct{}{}, "@select", map[string]any{"target": map[string]any{"role": "combobox", "name": "Mode"}, "values": []string{"Rail"}})
	if !p.click(s.Doc, s.named(t, "button", "Track").Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "Rail ")
}

func ariaHidden(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{"full": true})
	if !p.click(s.Doc, s.named(t, "button", "Promo code").Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "promo")
	if strings.Count(s.String(), "aria-hidden") != 1 || strings.Contains(s.String(), `link "Slide 2`) {
		t.Errorf("want one aria-hidden boundary and no inert link:\n%s", s)
	}
}

func hiddenText(p *tab) {
	t := p.t
	var passage struct{ Text string }
	p.into(&passage, "@text", map[string]any{"limit": 100000})
	for view, text := range map[string]string{
		"full": p.snapshot(map[string]any{"full": true}).String(), "default": p.snapshot(map[string]any{}).String(), "text": passage.Text,
	} {
		if strings.Contains(text, "HIDE") {
			t.Errorf("%s shows what nobody can see:\n%s", view, text)
		}
		for _, seen := range []string{"SEEN-1", "SEEN-2", "SEEN-3", "SEEN-4"} {
			if view != "default" && !strings.Contains(text, seen) {
				t.Errorf("%s lacks %s:\n%s", view, seen, text)
			}
		}
	}
}

func threads(p *tab) (shot, line) {
	t := p.t
	t.Helper()
	s := p.snapshot(map[string]any{})
	p.click(s.Doc, s.named(t, "button", "Thread Cid").Node)
	p.click(s.Doc, s.named(t, "button", "Send").Node)
	return s, s.named(t, "button", "Thread Ana")
}

func recycledRow(p *tab) {
	t := p.t
	s, ana := threads(p)
	a := p.run("@locate", map[string]any{
		"target": map[string]any{"doc": s.Doc, "node": ana.Node}, "expect": map[string]any{"role": ana.Role, "name": ana.Name},
	})
	if a.Error == nil || a.Error.Code != "stale_ref" || !strings.Contains(string(a.Error.Detail), "Thread Cid") {
		t.Errorf("a recycled row answers %s %+v, want stale_ref naming what it is now", a.Value, a.Error)
	}
}

func movedRow(p *tab) {
	t := p.t
	s, ana := threads(p)
	if !p.click(s.Doc, ana.Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "Ana")
}

func oddLinks(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	for _, name := range []string{"long wrapped link text", "284 open tickets", "two dots"} {
		if !p.click(s.Doc, s.named(t, "link", name).Node) {
			t.Errorf("the click on %s did not land", name)
		}
	}
	p.expect("log.textContent", "w\ns\nd\n")
}

func consent(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	apply := map[string]any{"target": map[string]any{"doc": s.Doc, "node": s.named(t, "button", "Apply now").Node}}
	a := p.run("@locate", apply)
	if a.Error == nil || a.Error.Code != "covered" || !strings.Contains(string(a.Error.Detail), `"role":"dialog","name":"Cookies"`) {
		t.Fatalf("a covered button answers %s %+v, want covered by the dialog", a.Value, a.Error)
	}
	p.expect("log.textContent", "")
	p.click(s.Doc, s.named(t, "button", "Only necessary").Node)
	if !p.click(s.Doc, s.named(t, "button", "Apply now").Node) {
		t.Error("the click did not land once the layer was gone")
	}
	p.expect("out.textContent", "applied")
}

func offscreen(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if !p.click(s.Doc, s.named(t, "button", "Far away").Node) {
		t.Error("the click did not land")
	}
	p.expect("out.textContent", "hit")
}

func huge(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if s.More < 10000 || len(s.String()) > 20000 {
		t.Errorf("%d characters and %d more lines, want a cut snapshot", len(s.String()), s.More)
	}
	if !strings.Contains(s.String(), "batch 0 | owner 0") {
		t.Errorf("a row is not told by its text:\n%.600s", s)
	}
	var found struct {
		Doc     string
		Total   int
		Matches []struct{ Node int }
	}
	p.into(&found, "@find", map[string]any{"role": "link", "name": "details 5999"})
	if found.Total != 1 || !p.click(found.Doc, found.Matches[0].Node) {
		t.Errorf("%+v, want one link far down that can be clicked", found)
	}
	p.expect("location.hash", "#5999")
}

func forms(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	cases := map[string]string{
		"plain post": "form_refused", "get button": "", "post by formmethod": "form_refused", "get by formmethod": "",
		"button of another form": "form_refused", "picture": "form_refused", "not a submitter": "", "closes a dialog": "",
		"field named method": "form_refused",
	}
	for name, want := range cases {
		a := p.run("@locate", map[string]any{"target": map[string]any{"doc": s.Doc, "node": s.named(t, "button", name).Node}, "read_only": true})
		got := ""
		if a.Error != nil {
			got = a.Error.Code
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	disabled := p.run("@locate", map[string]any{"target": map[string]any{"role": "button", "name": "switched off"}, "wait_ms": 50})
	if disabled.Error == nil || disabled.Error.Code != "not_enabled" {
		t.Errorf("a disabled button answers %+v", disabled)
	}
}

func fields(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if strings.Contains(s.String(), "hunter2") {
		t.Errorf("a password is shown:\n%s", s)
	}
	s.named(t, "textbox", "Password")
	if got := s.named(t, "textbox", "City").Value; got != "Oslo" {
		t.Errorf("City holds %q", got)
	}
	by := func(role, name string) map[string]any { return map[string]any{"role": role, "name": name} }
	p.into(&struct{}{}, "@focus", map[string]any{"target": by("textbox", "City"), "fill": "Bergen"})
	p.must(p.session, "Input.insertText", map[string]any{"text": "Bergen"})
	var held struct {
		Value  string
		Secret bool
	}
	p.into(&held, "@value", map[string]any{"target": by("textbox", "City")})
	if held.Value != "Bergen" {
		t.Errorf("City holds %q after typing", held.Value)
	}
	if secret := p.run("@value", map[string]any{"target": by("textbox", "Password")}); string(secret.Value) != `{"secret":true}` {
		t.Errorf("the password reads as %s", secret.Value)
	}
	p.into(&struct{}{}, "@focus", map[string]any{"target": by("textbox", "Day"), "fill": "2026-03-09"})
	p.expect("day.value", "2026-03-09")
	if a := p.run("@focus", map[string]any{"target": by("textbox", "Day"), "fill": "2026-02-30"}); a.Error == nil || a.Error.Code != "bad_request" {
		t.Errorf("an impossible day answers %s", a.Value)
	}
	p.expect("day.value", "2026-03-09")
	if a := p.run("@select", map[string]any{"target": by("combobox", "Colour"), "values": []string{"Pilot"}}); a.Error == nil || !strings.Contains(string(a.Error.Detail), "Red") {
		t.Errorf("a missing option answers %+v, want the real ones", a.Error)
	}
}

func panes(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if !strings.Contains(s.String(), "group scrollable") {
		t.Errorf("a pane of mere text is not listed:\n%s", s)
	}
	var moved struct {
		Pane      string
		Moved     int
		MoreBelow int `json:"more_below"`
	}
	p.into(&moved, "@scroll", map[string]any{"to": "down"})
	if moved.Moved <= 0 || moved.Pane == "page" || p.eval("side.scrollTop") != "0" {
		t.Errorf("scrolling without a target: %+v, want the large pane", moved)
	}
	side := s.named(t, "navigation", "Sidebar")
	p.into(&moved, "@scroll", map[string]any{"to": "bottom", "node": map[string]any{"doc": s.Doc, "node": side.Node}})
	if moved.Pane != "navigation" || moved.MoreBelow > 0 {
		t.Errorf("scrolling the sidebar: %+v", moved)
	}
	var found bool
	p.into(&found, "@has_text", map[string]any{"text": "post   19"})
	if !found {
		t.Error("text on the page is not found")
	}
	p.into(&found, "@has_text", map[string]any{"url": "http://*/panes.h**"})
	if !found {
		t.Error("the address does not fit its glob")
	}
}

func drawing(p *tab) {
	t := p.t
	if s := p.snapshot(map[string]any{}); s.named(t, "link", "to the start").Node == 0 {
		t.Errorf("%s", s)
	}
}

func frames(p *tab) {
	t := p.t
	s := p.snapshot(map[string]any{})
	if len(s.Lines) != 2 || !s.Lines[0].Frame || s.Lines[0].Node == 0 || s.Lines[0].Name != "a" || s.Lines[0].URL != "/forms.html" {
		raw, err := json.Marshal(s)
		t.Errorf("a frameset is %s (%v), want its two frames", raw, err)
	}
}
