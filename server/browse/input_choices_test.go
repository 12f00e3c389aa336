package browse_test

import (
	"strings"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func boxes(d *driver) {
	d.open("input-boxes.html")
	check := func(role, name string) browse.Result { d.t.Helper(); return d.do(d.named("check", role, name, nil)) }
	for _, box := range [][2]string{{"checkbox", "Plain box"}, {"checkbox", "Hidden box"}, {"switch", "Power"}, {"button", "Bold"}, {"radio", "Two"}, {"checkbox", "Mixed"}} {
		before := d.tab.runs
		if r := check(box[0], box[1]); r.Landed == nil || !*r.Landed {
			d.t.Errorf("checking %s did not land", box[1])
		}
		if d.tab.runs != before+1 {
			d.t.Errorf("checking %s took %d programs", box[1], d.tab.runs-before)
		}
		if r := check(box[0], box[1]); r.Landed != nil || !strings.Contains(strings.Join(r.Notices, " "), "already") {
			d.t.Errorf("checking %s again: landed %v, %q", box[1], r.Landed, r.Notices)
		}
	}
	d.says("[a.checked,b.checked,sw.ariaChecked,tog.ariaPressed,r2.checked,mix.checked,n.textContent].join()", "true,true,true,true,true,true,1")
	d.do(d.named("uncheck", "switch", "Power", nil))
	d.do(d.named("uncheck", "checkbox", "Hidden box", nil))
	d.says("[b.checked,sw.ariaChecked].join()", "false,false")
	_ = d.refused(d.named("uncheck", "radio", "Two", nil), fault.BadRequest)
	_ = d.refused(d.named("check", "button", "Not a box", nil), fault.BadRequest)
	_ = d.refused(d.named("check", "checkbox", "Off", nil), fault.NotEnabled)
}

func togglePage(d *driver) {
	d.open("corpus/case-03-one-pixel-toggle.html")
	ref := d.ref("Publish product")
	for range 2 {
		d.do(`{"action":"check","ref":"` + ref + `"}`)
		d.says("out.textContent", "on changes=1")
	}
	d.do(`{"action":"uncheck","ref":"` + ref + `"}`)
	d.says("out.textContent", "off changes=2")
}

func comboboxCase(d *driver) {
	d.open("corpus/case-23-aria-combobox.html")
	ref, before := d.ref("Role"), d.tab.runs
	choose := func(value string) string { return `{"action":"select","ref":"` + ref + `","values":["` + value + `"]}` }
	d.holds(d.do(choose("Product manager")), "Product manager")
	d.says("out.textContent", "Product manager")
	if d.tab.runs != before+1 {
		d.t.Errorf("choosing took %d programs", d.tab.runs-before)
	}
	d.holds(d.do(choose("Product marketer")), "Product marketer")
	d.says("out.textContent", "Product marketer")
	f := d.refused(choose("Pilot"), fault.NotFound)
	if f.Detail != `the options are "Engineer", "Designer", "Product manager", "Product marketer"` {
		d.t.Errorf("%+v", f)
	}
	d.open("corpus/case-23-aria-combobox.html")
	d.do(`{"action":"type","ref":"` + d.ref("Role") + `","text":"des"}`)
	d.do(`{"action":"press","keys":"ArrowDown Enter"}`)
	d.says("out.textContent", "Designer")
}

func lists(d *driver) {
	d.open("input-lists.html")
	choose := func(role, name string, values ...string) browse.Result {
		d.t.Helper()
		return d.do(d.named("select", role, name, map[string]any{"values": values}))
	}
	d.holds(choose("combobox", "Size", "Medium"), "Medium")
	d.says("out.textContent", "size Medium")
	d.holds(choose("button", "More", "Rename"), "Rename")
	d.says("out.textContent", "menu Rename")
	d.holds(choose("combobox", "Country", "Finland"), "Finland")
	d.says("out.textContent", "country Finland")
	d.holds(choose("combobox", "Tags", "red", "blue"), "red, blue")
	d.holds(choose("combobox", "Tags", "green"), "green")
	d.says("out.textContent", "tags red blue green")
	d.holds(choose("combobox", "Row", "Row 150"), "Row 150")
	d.says("out.textContent", "row 150")
	d.holds(choose("listbox", "Flat", "Green"), "Green")
	d.says("out.textContent", "flat Green")
	d.holds(choose("combobox", "Depends", "second"), "second")
	d.holds(choose("combobox", "Unmarked", "Pear"), "Pear")
	d.says("out.textContent", "bare Pear")
	f := d.refused(d.named("select", "combobox", "Size", map[string]any{"values": []string{"Huge"}}), fault.NotFound)
	if f.Detail != `the options are "Small", "Medium", "Large"` {
		d.t.Errorf("%+v", f)
	}
	f = d.refused(d.named("select", "combobox", "Unmarked", map[string]any{"values": []string{"Plum"}}), fault.NotFound)
	if f.Detail != `the options are "Fig", "Pear"` {
		d.t.Errorf("%+v", f)
	}
}

func shadowFields(d *driver) {
	d.open("corpus/case-09-shadow-open-slots.html")
	d.do(`{"action":"select","ref":"` + d.ref(`"Mode"`) + `","values":["Rail"]}`)
	d.holds(d.do(`{"action":"fill","ref":"`+d.refIn("Reference")+`","text":"AB-12"}`), "AB-12")
	d.do(`{"action":"click","role":"button","name":"Track"}`)
	d.says("out.textContent", "Rail AB-12")
	d.open("input-shadow.html")
	for _, name := range []string{"Note", "Area", "Host"} {
		d.holds(d.fill(name, "first"), "first")
	}
	d.holds(d.fill("Note", "one\ntwo"), "one\ntwo")
	d.holds(d.do(d.named("select", "combobox", "Shaded", map[string]any{"values": []string{"Blue"}})), "Blue")
	d.open("shadow-closed.html")
	d.holds(d.fill("Closed field", "first"), "first")
	d.holds(d.do(d.named("type", "textbox", "Closed field", map[string]any{"text": " more"})), "first more")
}

// chosenThen is what a list of the browser's own shows once its page has had the last word.
func chosenThen(d *driver) {
	choose := func(role, name string, values ...string) browse.Result {
		d.t.Helper()
		d.open("input-choices.html")
		return d.do(d.named("select", role, name, map[string]any{"values": values}))
	}
	const other = "something else chosen now"
	for name, tc := range map[string]struct {
		role   string
		choose []string
		value  string
		notice string
	}{
		"Plan":      {"combobox", []string{"Team"}, "Team", ""},
		"Refused":   {"combobox", []string{"All"}, "None", other},
		"Asked":     {"combobox", []string{"Two"}, "One", other},
		"Several":   {"listbox", []string{"a", "c"}, "a", other},
		"Emptied":   {"combobox", []string{"x"}, "", other},
		"Once":      {"combobox", []string{"yes"}, "yes", "no longer on the page"},
		"Suggested": {"combobox", []string{"alpha"}, "", other},
		"Leads on":  {"combobox", []string{"there"}, "there", ""},
	} {
		r := choose(tc.role, name, tc.choose...)
		notices := strings.Join(r.Notices, " ")
		isTold := strings.Contains(notices, other) || strings.Contains(notices, "no longer on the page")
		if heldText(r.Value) != heldText(&tc.value) || isTold != (tc.notice != "") || !strings.Contains(notices, tc.notice) || r.AsAsked != (name == "Plan") {
			d.t.Errorf("%s: %s, %q, as asked: %v", name, heldText(r.Value), r.Notices, r.AsAsked)
		}
	}
}

// leftLists are lists that were opened in vain: they are shut again, and what they offered is told.
func leftLists(d *driver) {
	d.open("input-choices.html")
	for name, wants := range map[string][2]string{
		"Bare":      {`the options are "Fig", "Pear"`, "no such option"},
		"Expanding": {`the options are "Fig", "Pear"`, "no such option"},
		"Mute":      {"", "No options came up"},
	} {
		f := d.refused(d.named("select", "combobox", name, map[string]any{"values": []string{"Plum"}}), fault.NotFound)
		if f.Detail != wants[0] || !strings.Contains(f.Message, wants[1]) {
			d.t.Errorf("%s: %+v", name, f)
		}
		d.says("document.querySelectorAll('.list').length", "0")
	}
	d.says("out.textContent", "!!")
}
