package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"chaperone/server/browse"
)

func TestClosedShadowTreesInChromium(t *testing.T) {
	script, at := pageScript(t), site(t)
	c := launch(t)
	cases := map[string]func(d *driver){
		"what stands in them is listed and clicked, one program an action": treesListed,
		"their text is read without a snapshot before":                     treesRead,
		"an element without one is asked about once":                       noClosedTree,
		"one is found behind many elements that have none":                 lateTree,
	}
	for sentence, check := range cases {
		t.Run(sentence, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{ReadOnly: true})
			d.at = at
			check(d)
		})
	}
}

func treesListed(d *driver) {
	t := d.t
	d.open("shadow-closed.html")
	if !strings.Contains(d.last, `textbox "Closed field"`) {
		t.Errorf("the field is not listed:\n%s", d.last)
	}
	before := d.tab.runs
	buttons := map[string]string{"Closed button": "closed", "Deeper button": "deeper", `button "Slotted"`: "slotted", "Plain host": "plain"}
	refs := map[string]string{}
	for name := range buttons {
		refs[name] = d.ref(name)
	}
	for name, want := range buttons {
		r := d.do(fmt.Sprintf(`{"action":"click","ref":"%s"}`, refs[name]))
		if r.Landed == nil || !*r.Landed {
			t.Errorf("the click on %s did not land: %v", name, r.Notices)
		}
		if got := d.page("out.textContent"); got != want {
			t.Errorf("after %s the page says %q", name, got)
		}
	}
	if got := d.tab.runs - before; got != len(buttons) {
		t.Errorf("%d programs for %d clicks", got, len(buttons))
	}
}

func treesRead(d *driver) {
	d.do(`{"action":"open","url":"` + d.at + `/shadow-closed.html","snapshot":"none"}`)
	r := d.do(`{"action":"get_text"}`)
	for _, text := range []string{"Closed field", "Closed button", "Deeper button", "Slotted"} {
		if r.Text == nil || !strings.Contains(*r.Text, text) {
			d.t.Errorf("the text lacks %q: %v", text, r.Text)
		}
	}
}

func noClosedTree(d *driver) {
	d.open("one-pixel-toggle.html")
	d.page(`(customElements.define('x-light', class extends HTMLElement {}), document.body.append(document.createElement('x-light')))`)
	for want := 1; want >= 0; want-- {
		before := d.tab.sent("DOM.describeNode")
		d.do(`{"action":"snapshot"}`)
		if got := d.tab.sent("DOM.describeNode") - before; got != want {
			d.t.Errorf("asked about %d elements, want %d", got, want)
		}
	}
}

func lateTree(d *driver) {
	d.open("one-pixel-toggle.html")
	d.page(`(customElements.define('x-many', class extends HTMLElement {}), document.body.insertAdjacentHTML('beforeend', '<x-many></x-many>'.repeat(150)),
		document.body.lastElementChild.attachShadow({ mode: 'closed' }).innerHTML = '<button>Last of all</button>')`)
	d.do(`{"action":"snapshot"}`)
	d.ref("Last of all")
}
