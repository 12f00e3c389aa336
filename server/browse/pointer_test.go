package browse_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestPointerInChromium(t *testing.T) { //nolint:tparallel // its parts have one browser, and go one after the other
	t.Parallel()
	script, at := pageScript(t), site(t)
	c := launch(t, "--site-per-process")
	cases := map[string]struct {
		options browse.Options
		check   func(d *driver)
	}{
		"a double click and a right click are what a hand does":  {check: clickKinds},
		"a click that is not plain writes":                       {options: browse.Options{ReadOnly: true}, check: plainClicksOnly},
		"hovering opens what hovering opens":                     {check: hovered},
		"what comes over an element by the pointer covers it":    {check: coveredByPointer},
		"a press of which no click came is told":                 {check: halfPressed},
		"a card is dragged where it is to go":                    {check: draggedCard},
		"what follows the pointer is dragged":                    {check: draggedPointer},
		"a drop that the page does not take has not landed":      {check: droppedNowhere},
		"what is out of view together is not dragged":            {check: draggedTooFar},
		"files come to the field that an element stands for":     {check: uploaded},
		"a large file comes in parts":                            {check: uploadedLarge},
		"a script answers in JSON, in the frame of an element":   {check: evaluated},
		"a frame in a closed tree covers what it lies over":      {check: closedTrees},
		"what is in a closed tree is pressed as what it is":      {check: honestTree},
		"a form in a closed tree is not submitted while reading": {options: browse.Options{ReadOnly: true}, check: closedForm},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, tc.options)
			d.at = at
			tc.check(d)
		})
	}
}

func (d *driver) isLanded(r browse.Result) {
	d.t.Helper()
	if r.Landed == nil || !*r.Landed {
		d.t.Errorf("it has not landed: %+v", r)
	}
}

func clickKinds(d *driver) {
	d.open("pointer.html")
	d.isLanded(d.do(`{"action":"click","role":"button","name":"Press me","count":2}`))
	d.outSays("click:0:true click:0:true dblclick:0:true ")
	d.isLanded(d.do(`{"action":"click","role":"button","name":"Press me","button":"right"}`))
	if got := d.page("out.textContent"); !strings.Contains(got, "contextmenu:2:true") || strings.Contains(got, "auxclick:0") {
		d.t.Errorf("a right click is %q", got)
	}
	if got := d.page("out.dataset.menu"); got != "true" {
		d.t.Errorf("the browser's own menu was kept away: %s", got)
	}
	_ = d.refused(`{"action":"click","role":"button","name":"Press me","button":"middle"}`, fault.BadRequest)
	_ = d.refused(`{"action":"click","role":"button","name":"Press me","count":3}`, fault.BadRequest)
}

func coveredByPointer(d *driver) {
	d.open("elusive.html")
	f := d.refused(`{"action":"click","role":"button","name":"Keep"}`, fault.Covered)
	if !strings.Contains(f.Message+f.Detail, "Delete everything") {
		d.t.Errorf("what covers it is not told: %+v", f)
	}
	d.outSays("")
}

func halfPressed(d *driver) {
	d.open("elusive.html")
	tells := func(name string) bool {
		r := d.do(`{"action":"click","role":"button","name":"` + name + `"}`)
		d.isLanded(r)
		return strings.Contains(strings.Join(r.Notices, " "), "the click that should follow did not reach it")
	}
	if !tells("Hop") || !tells("Swap") || tells("Calm") {
		d.t.Error("it is not told which of them had no click")
	}
	d.outSays("swapped calm ")
}

func plainClicksOnly(d *driver) {
	d.open("pointer.html")
	_ = d.refused(`{"action":"click","role":"button","name":"Press me","count":2}`, fault.ReadOnlyRefused)
	_ = d.refused(`{"action":"click","role":"button","name":"Press me","button":"right"}`, fault.ReadOnlyRefused)
	d.isLanded(d.do(`{"action":"click","role":"button","name":"Press me","count":1,"button":"left"}`))
}

func hovered(d *driver) {
	d.open("pointer.html")
	if strings.Contains(d.last, "Sub page") {
		d.t.Fatalf("the menu is open before:\n%s", d.last)
	}
	r := d.do(`{"action":"hover","role":"button","name":"Products"}`)
	d.isLanded(r)
	if !strings.Contains(d.last, `link "Sub page"`) {
		d.t.Errorf("after hovering:\n%s", d.last)
	}
	d.isLanded(d.do(`{"action":"hover","role":"button","name":"Switched off"}`))
	_ = d.refused(`{"action":"click","role":"button","name":"Switched off","timeout_ms":2000}`, fault.NotEnabled)
}

func draggedCard(d *driver) {
	for place, want := range map[string]string{"top": "C,A,B", "bottom": "A,C,B"} {
		d.open("drag-html5.html")
		r := d.do(fmt.Sprintf(`{"action":"drag","ref":%q,"to":%q,"at":%q}`, d.ref("Card C"), d.ref("Card A"), place))
		d.isLanded(r)
		d.outSays(want)
		if got := strings.TrimSpace(d.page("document.getElementById('ev').textContent")); got != "dragstart dragover drop dragend" {
			d.t.Errorf("the page saw %q", got)
		}
	}
}

func draggedPointer(d *driver) {
	d.open("pointer.html")
	d.isLanded(d.do(fmt.Sprintf(`{"action":"drag","ref":%q,"to":%q}`, d.ref("Crate"), d.ref("Lorry"))))
	d.outSays("loaded ")
	d.do(`{"action":"snapshot"}`)
	r := d.do(fmt.Sprintf(`{"action":"drag","ref":%q,"to":%q}`, d.ref("Volume"), d.ref("Lorry")))
	d.isLanded(r)
	if got := d.page("out.textContent"); !strings.Contains(got, "slid:") || strings.Contains(got, "slid:0") {
		d.t.Errorf("the slider says %q", got)
	}
}

func droppedNowhere(d *driver) {
	d.open("pointer.html")
	f := d.refused(fmt.Sprintf(`{"action":"drag","ref":%q,"to":%q}`, d.ref("Card"), d.ref("Lorry")), fault.NotLanded)
	if !strings.Contains(f.Message, "took no drop") {
		d.t.Error(f)
	}
}

func draggedTooFar(d *driver) {
	d.open("drag-html5.html")
	d.page("l.insertBefore(Object.assign(document.createElement('p'), {style: 'height:3000px'}), C) && 1")
	d.do(`{"action":"snapshot"}`)
	_ = d.refused(fmt.Sprintf(`{"action":"drag","ref":%q,"to":%q}`, d.ref("Card C"), d.ref("Card A")), fault.NotVisible)
	d.outSays("A,B,C")
}

func file(name, mime, data string) string {
	return fmt.Sprintf(`{"name":%q,"mime":%q,"data":%q}`, name, mime, base64.StdEncoding.EncodeToString([]byte(data)))
}

func uploaded(d *driver) {
	d.open("pointer.html")
	a, b := file("a.png", "image/png", "first"), file("ä b.txt", "text/plain", "second one")
	d.do(fmt.Sprintf(`{"action":"upload","role":"button","name":"Choose a document","files":[%s]}`, a))
	d.outSays("doc:a.png:image/png:5:first ")
	f := d.refused(fmt.Sprintf(`{"action":"upload","role":"button","name":"Choose a document","files":[%s,%s]}`, a, b), fault.BadRequest)
	if !strings.Contains(f.Message, "one file") {
		d.t.Error(f)
	}
	_ = d.refused(`{"action":"upload","role":"button","name":"Choose a document","files":[]}`, fault.BadRequest)
	_ = d.refused(fmt.Sprintf(`{"action":"upload","role":"button","name":"Press me","files":[%s]}`, a), fault.Ambiguous)
}

func uploadedLarge(d *driver) {
	d.open("pointer.html")
	big := strings.Repeat("0123456789abcdef", 3<<16) // 3 MiB
	runs := d.tab.runs
	d.do(fmt.Sprintf(`{"action":"upload","role":"button","name":"Choose a document","files":[%s]}`, file("big.bin", "", big)))
	d.outSays(fmt.Sprintf("doc:big.bin::%d:01234567 ", len(big)))
	if sent := d.tab.runs - runs; sent < 3 || sent > 5 {
		d.t.Errorf("it came in %d programs", sent)
	}
	_ = d.refused(fmt.Sprintf(`{"action":"upload","role":"button","name":"Choose a document","files":[%s]}`, file("x", "", strings.Repeat("x", 10<<20+1))), fault.BadRequest)
}

func evaluated(d *driver) {
	d.open("nested.html")
	returned := func(action string) string {
		d.t.Helper()
		r := d.do(action)
		if r.Returned == nil {
			d.t.Fatalf("%s: %+v", action, r)
		}
		return *r.Returned
	}
	for expression, want := range map[string]string{
		"1+1": "2", "({a:[1,'x']})": `{"a":[1,"x"]}`, "undefined": "undefined", "const n = 3; n * 2": "6", "Promise.resolve('late')": `"late"`,
		"location.pathname": `"/nested.html"`, "'[ref=e1]'": `"(ref=e1]"`,
	} {
		raw, err := json.Marshal(expression)
		if err != nil {
			d.t.Fatal(err)
		}
		if got := returned(`{"action":"eval","js":` + string(raw) + `}`); got != want {
			d.t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
	d.do(`{"action":"snapshot"}`)
	inner := d.ref("Press me")
	if got := returned(fmt.Sprintf(`{"action":"eval","ref":%q,"js":"location.pathname"}`, inner)); !strings.Contains(got, "in") || strings.Contains(got, "nested") {
		d.t.Errorf("in the frame it is %s", got)
	}
	if got := returned(`{"action":"eval","role":"button","name":"Press me","js":"location.pathname"}`); !strings.Contains(got, "inner") {
		d.t.Errorf("in the frame of what is named it is %s", got)
	}
	f := d.refused(`{"action":"eval","js":"nope.x"}`, fault.BadRequest)
	if !strings.Contains(f.Detail, "ReferenceError") || strings.Contains(f.Message, "nope") {
		d.t.Errorf("%+v", f)
	}
	r := d.do(`{"action":"eval","js":"'x'.repeat(50000)"}`)
	if len(*r.Returned) > 21_000 || !strings.Contains(strings.Join(r.Notices, " "), "left out") {
		d.t.Errorf("%d characters; %v", len(*r.Returned), r.Notices)
	}
}

func closedTrees(d *driver) {
	for _, where := range []string{"closed.html", "closed.html?same"} {
		d.open(where)
		f := d.refused(`{"action":"click","role":"button","name":"Show prices"}`, fault.Covered)
		if !strings.Contains(f.Message, "lies over") {
			d.t.Error(f)
		}
		d.outSays("")
	}
}

func honestTree(d *driver) {
	d.open("closed.html")
	d.isLanded(d.do(`{"action":"click","role":"button","name":"Honest"}`))
	d.outSays("honest ")
}

func closedForm(d *driver) {
	d.open("closed.html")
	_ = d.refused(`{"action":"click","role":"button","name":"Search"}`, fault.FormRefused)
}
