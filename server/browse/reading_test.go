package browse_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestReadingInChromium(t *testing.T) {
	script, at := pageScript(t), site(t)
	c := launch(t)
	for sentence, check := range map[string]func(d *driver){
		"a huge page is looked through":                    hugePage,
		"what was found far down is looked for again":      foundFarDown,
		"a list that makes its rows as it scrolls":         virtualList,
		"a page is read on, each line once":                readOn,
		"a page that changes while it is read on":          readOnChanged,
		"a frame beyond what is shown comes in its turn":   farFrame,
		"a scope has its frames and no others":             scopedFrames,
		"after an action only what changed is told":        onlyChanges,
		"what lies beyond what was shown is no change":     beyondShown,
		"lines that change places are told of":             changedPlaces,
		"most of a page is shown from its start":           mostOfAPage,
		"what cannot be seen is not found":                 hiddenNotFound,
		"a stale ref tells which element took its place":   tookItsPlace,
		"one that could be either is not told":             eitherOne,
		"text has links, tables and frames in their place": readableText,
		"a text is read on as it was":                      textReadOn,
		"one element's text, with the frames in it":        elementText,
	} {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			d.at = at
			check(d)
		})
	}
}

func (d *driver) lines(action string) []string {
	d.t.Helper()
	r := d.do(action)
	if r.Snapshot == nil {
		d.t.Fatalf("%s: no snapshot: %v", action, r.Notices)
	}
	return strings.Split(r.Snapshot.Text, "\n")
}

// shape is a snapshot without its refs, and without marks of where the window ends.
func shape(lines []string) string {
	return regexp.MustCompile(` \[(ref=e\d+|offscreen|onscreen)\]`).ReplaceAllString(strings.Join(lines, "\n"), "")
}

func hugePage(d *driver) {
	t := d.t
	d.open("huge-page.html")
	got := d.lines(`{"action":"snapshot","text":"batch 5999"}`)
	want := "- row: batch 5999 | owner 82\n  - link \"details 5999\" [url=#5999]\n  - button \"Approve\""
	if s := shape(got); s != want {
		t.Errorf("looking for a text shows\n%s", s)
	}
	got = d.lines(`{"action":"snapshot","role":"button","name":"approve","text":"BATCH  4242"}`)
	if s := shape(got); s != "- row: batch 4242 | owner 71\n  - button \"Approve\"" {
		t.Errorf("looking for a button near a text shows\n%s", s)
	}
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Approve")))
	if out := d.page("out.textContent"); out != "approved 4242" {
		t.Errorf("out says %s", out)
	}
	r := d.do(`{"action":"snapshot","role":"button"}`)
	if r.Snapshot.More == nil || r.Snapshot.More.Lines < 5000 || !strings.HasPrefix(r.Snapshot.Text, "- row: batch 0 |") {
		t.Fatalf("%+v\n%.300s", r.Snapshot.More, r.Snapshot.Text)
	}
	first := r.Snapshot.Text
	r = d.do(`{"action":"snapshot","cursor":"` + r.Snapshot.More.Cursor + `"}`)
	if next, _, _ := strings.Cut(r.Snapshot.Text, "\n"); !strings.HasPrefix(next, "- row: batch ") || strings.Contains(first, next) {
		t.Errorf("what was found goes on with %s", next)
	}
	if r = d.do(`{"action":"snapshot","text":"no such batch"}`); !strings.Contains(strings.Join(r.Notices, " "), "Nothing on the page fits") {
		t.Errorf("%+v", r)
	}
	_ = d.refused(`{"action":"snapshot","scope":"e1","text":"x"}`, fault.BadRequest)
}

func foundFarDown(d *driver) {
	t := d.t
	d.open("huge-page.html")
	if strings.Contains(d.last, "[url=") {
		t.Errorf("where all is listed its own addresses are told:\n%.300s", d.last)
	}
	d.last = strings.Join(d.lines(`{"action":"snapshot","role":"button","text":"batch 4242"}`), "\n")
	if d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Approve"))); d.last != "- status: approved 4242" {
		t.Errorf("the click tells\n%.300s", d.last)
	}
	d.do(`{"action":"snapshot","text":"batch 4242"}`)
	d.page(`t.rows[4242].cells[0].append(' is done')`)
	if d.do(`{"action":"wait","ms":1}`); d.last != "- row: batch 4242 is done | owner 71" {
		t.Errorf("of what was found it tells\n%.300s", d.last)
	}
}

func virtualList(d *driver) {
	t := d.t
	d.open("virtual-list.html")
	pane := d.ref("[scrollable]")
	r := d.do(`{"action":"snapshot","text":"Contact 3210"}`)
	if told := strings.Join(r.Notices, " "); !strings.Contains(told, "a pane that scrolls may make more: "+pane) {
		t.Errorf("%s", told)
	}
	d.do(`{"action":"snapshot"}`)
	old := d.ref("Call contact 3\"")
	d.do(fmt.Sprintf(`{"action":"scroll","ref":"%s","amount":96200}`, pane))
	got := d.lines(`{"action":"snapshot","text":"Contact 3210"}`)
	if s := shape(got); !strings.Contains(s, `- button "Call contact 3210": Contact 3210`) || len(got) > 2 {
		t.Fatalf("looking for a row shows\n%s", s)
	}
	call := d.ref("Call contact 3210")
	_ = d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, old), fault.StaleRef)
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, call))
	if out := d.page("out.textContent"); out != "call 3210" {
		t.Errorf("out says %s", out)
	}
}

// readAll reads on until nothing is left, or so many parts.
func (d *driver) readAll(action, text string, parts int) (all []string, cursor string) {
	d.t.Helper()
	for ; parts > 0; parts-- {
		r := d.do(action)
		part, more := r.Text, r.More
		if r.Snapshot != nil {
			part, more = &r.Snapshot.Text, r.Snapshot.More
		}
		if n := len([]rune(*part)); n > 12000 || n == 0 {
			d.t.Fatalf("a part of %d characters", n)
		}
		all = append(all, strings.Split(strings.TrimSuffix(*part, "\n"), "\n")...)
		if more == nil {
			return all, ""
		}
		cursor = more.Cursor
		action = `{"action":"` + text + `","cursor":"` + cursor + `"}`
	}
	return all, cursor
}

func readOn(d *driver) {
	t := d.t
	d.open("huge-page.html")
	all, cursor := d.readAll(`{"action":"snapshot"}`, "snapshot", 3)
	last := 0
	for line := range strings.SplitSeq(shape(all), "\n") {
		var batch int
		if _, err := fmt.Sscanf(line, "- row: batch %d |", &batch); err != nil {
			continue
		}
		if last++; batch != last-1 {
			t.Fatalf("after batch %d comes %s", last-2, line)
		}
	}
	if last < 300 {
		t.Errorf("three parts have %d rows", last)
	}
	again := d.do(`{"action":"snapshot","cursor":"` + cursor + `"}`).Snapshot.Text
	if same := d.do(`{"action":"snapshot","cursor":"` + cursor + `"}`).Snapshot.Text; same != again {
		t.Errorf("the same cursor answers\n%.200s\nand then\n%.200s", again, same)
	}
	_ = d.refused(`{"action":"get_text","cursor":"`+cursor+`"}`, fault.BadRequest)
	_ = d.refused(`{"action":"snapshot","cursor":"c999"}`, fault.BadRequest)
	d.open("links.html")
	if r := d.do(`{"action":"snapshot","cursor":"` + cursor + `"}`); !strings.Contains(strings.Join(r.Notices, " "), "another one") {
		t.Errorf("%v", r.Notices)
	}
}

func readOnChanged(d *driver) {
	t := d.t
	d.open("huge-page.html")
	first, cursor := d.readAll(`{"action":"snapshot"}`, "snapshot", 1)
	d.page(`(t.rows[0].remove(), t.rows[40].remove(), t.insertRow(3).innerHTML = '<td>fresh<td><button>New</button>')`)
	r := d.do(`{"action":"snapshot","cursor":"` + cursor + `"}`)
	if !strings.Contains(strings.Join(r.Notices, " "), "has changed since") {
		t.Errorf("%v", r.Notices)
	}
	second := strings.Split(r.Snapshot.Text, "\n")
	if s := shape(second[:2]); s != "- row: fresh\n  - button \"New\"" {
		t.Errorf("what is new is told as\n%s", s)
	}
	all := strings.Split(shape(append(first, second...)), "\n")
	for i := range 100 { // all of the first parts' rows, once each
		if n := len(slices.DeleteFunc(slices.Clone(all), func(line string) bool { return !strings.HasPrefix(line, fmt.Sprintf("- row: batch %d |", i)) })); n != 1 {
			t.Errorf("batch %d is told %d times", i, n)
		}
	}
}

func farFrame(d *driver) {
	t := d.t
	d.open("long-framed.html")
	if strings.Contains(d.last, "iframe") {
		t.Errorf("the frame stands before what comes before it:\n%s", d.last[len(d.last)-300:])
	}
	all, rest := d.readAll(`{"action":"snapshot"}`, "snapshot", 9)
	if last := shape(all[len(all)-2:]); rest != "" || len(all) != 402 || last != "- iframe \"Far\"\n  - button \"Last one\"" {
		t.Errorf("%d lines, and at last\n%s", len(all), last)
	}
}

func scopedFrames(d *driver) {
	t := d.t
	d.open("scoped.html")
	got := shape(d.lines(fmt.Sprintf(`{"action":"snapshot","scope":"%s"}`, d.ref("Second"))))
	want := `- region "Second"
  - button "In it"
  - iframe "Panel"
    - group "Deep"
      - button "In the frame"
    - link "beside" [url=/x]`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	got = shape(d.lines(fmt.Sprintf(`{"action":"snapshot","scope":"%s"}`, d.ref("Deep"))))
	if got != "- group \"Deep\"\n  - button \"In the frame\"" {
		t.Errorf("within a frame\n%s", got)
	}
	got = shape(d.lines(`{"action":"snapshot","name":"in the frame"}`))
	if got != "- iframe:\n  - group \"Deep\"\n    - button \"In the frame\"" {
		t.Errorf("looking for it shows\n%s", got)
	}
	deep := d.ref("Deep")
	d.page(`document.querySelectorAll('iframe')[1].remove()`)
	_ = d.refused(fmt.Sprintf(`{"action":"snapshot","scope":"%s"}`, deep), fault.StaleRef)
}

func onlyChanges(d *driver) {
	t := d.t
	d.open("replaced.html")
	mute, hush := d.ref("Say nothing"), d.ref("Hush")
	r := d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, mute))
	if r.Snapshot != nil || len(r.Notices) != 1 || r.Notices[0] != "Nothing that a snapshot shows has changed, nor has text come so far." {
		t.Errorf("%+v %v", r.Snapshot, r.Notices)
	}
	r = d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, hush))
	if r.Snapshot == nil || r.Snapshot.Text != "- gone: status: Ready to go" {
		t.Errorf("%+v %v", r.Snapshot, r.Notices)
	}
	r = d.do(fmt.Sprintf(`{"action":"click","role":"button","name":"Ship","nth":%d}`, 1))
	if r.Snapshot == nil || r.Snapshot.Text != "- status: ship Bellows" {
		t.Errorf("%+v %v", r.Snapshot, r.Notices)
	}
	d.page(`rows.rows[2].remove()`)
	gone := ""
	d.last = d.do(`{"action":"wait","ms":1}`).Snapshot.Text
	if !strings.HasPrefix(d.last, "- gone: row: Crucible") {
		t.Errorf("a row that went is told as %s %s", d.last, gone)
	}
}

func beyondShown(d *driver) {
	t := d.t
	d.open("huge-page.html")
	d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, d.ref("Approve")))
	if d.last != "- status: approved 0" {
		t.Errorf("the click tells\n%.300s", d.last)
	}
	d.page(`t.insertRow(0).innerHTML = '<td>fresh<td><button>New</button>'`)
	r := d.do(`{"action":"wait","ms":1}`)
	if s := shape([]string{d.last}); s != "- row: fresh\n  - button \"New\"" || len(r.Notices) > 0 {
		t.Errorf("a new row tells\n%.300s\n%v", s, r.Notices)
	}
	d.page(`t.insertRow(5000).innerHTML = '<td>far<td><button>New</button>'`)
	if r = d.do(`{"action":"wait","ms":1}`); r.Snapshot != nil || !strings.Contains(strings.Join(r.Notices, " "), "the part of the page that was shown") {
		t.Errorf("%+v %v", r.Snapshot, r.Notices)
	}
}

func changedPlaces(d *driver) {
	t := d.t
	d.open("stale-resort.html?moved=1")
	cid, send := d.ref("Thread Cid"), d.ref("Send")
	d.do(`{"action":"click","ref":"` + cid + `"}`)
	d.do(`{"action":"click","ref":"` + send + `"}`)
	if got := shape(strings.Split(d.last, "\n")); !strings.HasPrefix(got, "- button \"Thread Cid\"\n- button \"Thread Ana\"\n") {
		t.Errorf("a short page after it was sorted:\n%s", got)
	}
	d.open("huge-page.html")
	d.page(`t.append(t.rows[0])`)
	d.page(`t.prepend(t.rows[30])`)
	r := d.do(`{"action":"wait","ms":1}`)
	if told := strings.Join(r.Notices, " "); r.Snapshot != nil && r.Snapshot.Mode == "full" || !strings.Contains(told, "another order") {
		t.Errorf("a long page after it was sorted: %v, %+v", told, r.Snapshot)
	}
}

func mostOfAPage(d *driver) {
	t := d.t
	d.open("huge-page.html")
	d.page(`(t.innerHTML = t.innerHTML.replaceAll('batch', 'lot'))`)
	r := d.do(`{"action":"wait","ms":1}`)
	if r.Snapshot.Mode != "full" || r.Snapshot.More == nil || !strings.Contains(r.Snapshot.Text, "- row: lot 0 |") {
		t.Fatalf("%+v", r.Snapshot)
	}
	_, last, _ := strings.Cut(shape(strings.Split(r.Snapshot.Text, "\n")), "\n- row: lot 100 |")
	r = d.do(`{"action":"snapshot","cursor":"` + r.Snapshot.More.Cursor + `"}`)
	if last == "" || len(r.Notices) > 0 || strings.Contains(r.Snapshot.Text, "- row: lot 100 |") || !strings.Contains(shape(strings.Split(r.Snapshot.Text, "\n")), "- row: lot 160 |") {
		t.Errorf("%v\n%.300s", r.Notices, r.Snapshot.Text)
	}
}

func hiddenNotFound(d *driver) {
	t := d.t
	d.open("hidden-text.html")
	for i := range 11 {
		r := d.do(fmt.Sprintf(`{"action":"snapshot","text":"HIDE-%d"}`, i+1))
		if shown := strings.Contains(r.Snapshot.Text, fmt.Sprintf("HIDE-%d", i+1)); shown {
			t.Errorf("HIDE-%d is found:\n%s", i+1, r.Snapshot.Text)
		}
	}
	d.open("reading.html")
	for _, hidden := range []string{`"text":"Nor this"`, `"name":"Nor this"`, `"text":"Nobody sees"`} {
		if r := d.do(`{"action":"snapshot",` + hidden + `}`); r.Snapshot.Text != "" {
			t.Errorf("%s is found in a frame that cannot be seen:\n%s", hidden, r.Snapshot.Text)
		}
	}
	d.open("hidden-text.html")
	for text, want := range map[string]string{"seen-1 INVOICE": `- heading "SEEN-1 invoice page"`, "SEEN-2": "- text: SEEN-2 small print", "far below": "- text: SEEN-3"} {
		if got := shape(d.lines(`{"action":"snapshot","text":"` + text + `"}`)); !strings.Contains(got, want) {
			t.Errorf("looking for %s shows\n%s", text, got)
		}
	}
	if got := shape(d.lines(`{"action":"snapshot","role":"button","name":"seen-4"}`)); got != `- button "SEEN-4 remove row"` {
		t.Errorf("looking for the button shows\n%s", got)
	}
}

func readableText(d *driver) {
	t := d.t
	d.open("reading.html")
	want := `# Tides
See [the Moon](/docs/moon.html), [far away](https://example.com/far?x=1) or [below](/docs/#low). Write to [us](mailto:sea@example.com), now.
## A card
With two lines (/docs/card.html)
[A wave](/docs/picture.html)
Place | High | Low
Brest | 7.1 |
| 6.0 rising | [1.2](/docs/low.html)
Key | Value
a | 1
### Left
Column
Right column
Before the frame
Inside the frame
After the frame
  kept
    as it is
- one
- two
- deep`
	if got := *d.do(`{"action":"get_text"}`).Text; got != want {
		t.Errorf("got\n%s", got)
	}
	if whole := shape(d.lines(`{"action":"snapshot"}`)); !strings.Contains(whole, `- link "far away" [url=https://example.com/far?x=1]`) || strings.Contains(whole, "moon.html") {
		t.Errorf("addresses are told as\n%s", whole)
	}
	if full := shape(d.lines(`{"action":"snapshot","full":true}`)); !strings.Contains(full, `- link "the Moon" [url=/docs/moon.html]`) {
		t.Errorf("with all text addresses are told as\n%s", full)
	}
	d.do(`{"action":"wait","text":"See the Moon, far away"}`) // waits for text as it stands, without marks
}

func textReadOn(d *driver) {
	t := d.t
	d.open("huge-page.html")
	all, cursor := d.readAll(`{"action":"get_text"}`, "get_text", 2)
	d.page(`t.rows[0].remove()`)
	r := d.do(`{"action":"get_text","cursor":"` + cursor + `"}`)
	if !strings.Contains(strings.Join(r.Notices, " "), "has changed since") {
		t.Errorf("%v", r.Notices)
	}
	all = append(all, strings.Split(*r.Text, "\n")...)
	for i, line := range all[1:] { // the first says what was approved
		if line != "" && !strings.HasPrefix(line, fmt.Sprintf("batch %d | owner %d | [details %d](#%d)", i, i%97, i, i)) {
			t.Fatalf("line %d is %s", i, line)
		}
	}
}

func elementText(d *driver) {
	t := d.t
	d.open("scoped.html")
	if named := d.do(`{"action":"get_text","role":"region","name":"First"}`); *named.Text != "Outside\nNot here" {
		t.Errorf("by its name\n%s", *named.Text)
	}
	r := d.do(fmt.Sprintf(`{"action":"get_text","ref":"%s"}`, d.ref("Second")))
	if want := "In it\nDeep\nIn the frame\n[beside](/x)"; *r.Text != want {
		t.Errorf("got\n%s", *r.Text)
	}
}
