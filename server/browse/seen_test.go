package browse_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// What a snapshot says of the pages that the oracle has no word for: what is marked, left out, or only clickable.
func TestSnapshotsOfTheCorpus(t *testing.T) {
	script := pageScript(t)
	server := httptest.NewServer(http.FileServerFS(os.DirFS("testdata/corpus")))
	t.Cleanup(server.Close)
	c := launch(t)
	cases := map[string]struct {
		page       string
		has, lacks []string
	}{
		"a modal dialog switches off all around it": {
			"dialog-modal.html",
			[]string{`dialog "Delete it?" modal`, `  button "Keep"`, `checkbox "Do not ask again"`},
			[]string{"Behind link", "Behind field", "After button"},
		},
		"the topmost of two modal dialogs is the one to answer": {
			"dialog-modal-two.html",
			[]string{`button "In the second"`},
			[]string{"In the first", "Behind button", "Inert in the second"},
		},
		"a modal dialog within inert parts and another dialog": {
			"dialog-nested.html",
			[]string{`button "Inner button"`},
			[]string{"Outer button", "Behind button"},
		},
		"a modal dialog in a shadow tree": {
			"dialog-shadow.html",
			[]string{`button "Slotted"`, `button "Close"`},
			[]string{"Before", "After"},
		},
		"rows and entries that are clickable as a whole have a name": {
			"clickables.html",
			[]string{
				`row "Ana Hello" clickable`, `row "Bea Hi" clickable`, `listitem "Pointer entry" clickable`, `listitem "Handler entry" clickable`,
				`heading "Heading to click" clickable`, `article "Card heading Card text" clickable`, `generic "Deep text" clickable`, `img "Picture to click" clickable`,
			},
			[]string{`"Plain entry"`, `generic "Button in a pointer box"`},
		},
		"clickable cells keep their role": {
			"aria-grid.html",
			[]string{`gridcell "14" clickable`, `gridcell "15" clickable,selected`, `row "Row to click 12" clickable`, `grid "Seats" rows=200`, `button "Row" sort=ascending`},
			nil,
		},
		"a heading that is a link or a button is one line": {
			"aria-tabs.html",
			[]string{`button "Shipping" level=2,collapsed`, `button "Returns" level=2,expanded`, `heading "Tabs" level=1`},
			[]string{`heading "Shipping"`, `heading "Returns"`},
		},
		"a link that is a heading tells its level": {
			"links.html",
			[]string{`link "Link in a heading" level=2`, `link "Heading in a link and a paragraph" level=2`},
			[]string{`heading "Link in a heading"`, `heading "Heading in a link"`},
		},
		"which option is chosen is told by the list": {
			"world-shop.html",
			[]string{`  option "1"`},
			[]string{`option "1" selected`},
		},
		"text that only parts links is left out": {
			"world-search.html",
			[]string{`link "Plans"`, `link "Costs"`},
			[]string{"text: ·"},
		},
		"a full stop after a link is left out": {
			"world-docs.html",
			[]string{"text: Reads a", "text: and a footnote"},
			[]string{"text: .\n"},
		},
		"the areas of an image map stand below their picture": {
			"links.html",
			[]string{`link "West wing"`, `link "East wing"`},
			[]string{`"No address" `},
		},
		"a canvas is told with what it offers in its stead": {
			"canvas.html",
			[]string{`canvas "Sales"`, `  text fallback: Sales went up.`, `  link "The table" fallback`, `video "Film"`, `button "Drawn button"`},
			nil,
		},
		"what can be dragged is marked": {
			"draggable.html",
			[]string{
				`generic "Card" draggable`, `listitem "Entry" draggable`, `button "Button to drag" draggable`, `img "Picture to drag" draggable`,
				`button "Shows" collapsed`, `button "Hides" expanded`,
			},
			nil,
		},
		"inert parts are text": {
			"inert.html",
			[]string{`button "Live"`, `button "Visible again"`, `button "Contents"`, `button "Itself hidden" aria-hidden`},
			[]string{`button "Inert"`, `"Inert link"`, `button "Inert by style"`, `button "Transparent"`, `"Collapsed"`},
		},
		"editors that draw their text themselves have the field that takes the keys": {
			"editors-drawn.html",
			[]string{`textbox "Code in a shut box"`, `textbox "Code under glass"`, `textbox "Terminal input"`},
			[]string{"Copy helper", "Mirror", "Replaced"},
		},
		"a text that only names the control after it is not said twice": {
			"world-settings.html",
			[]string{`checkbox "Notifications"`, `radio "Light" checked`},
			[]string{"text: Notifications", "offscreen"},
		},
		"a list of options is told once": {
			"world-shop.html",
			[]string{`  option "3"`, "  text: the same 3 options as above"},
			nil,
		},
		"a combobox shows what is chosen": {
			"aria-listbox.html",
			[]string{`combobox "Size" collapsed,haspopup: Medium`, `combobox "Shape" collapsed: Round`, `combobox "Native": Second`, `textbox "Old field": typed`},
			nil,
		},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			c.t = t
			text := c.page(script, server.URL+"/"+tc.page).snapshot(map[string]any{}).String()
			for _, line := range tc.has {
				if !strings.Contains(text, line) {
					t.Errorf("%q is missing", line)
				}
			}
			for _, line := range tc.lacks {
				if strings.Contains(text, line) {
					t.Errorf("%q should not be there", line)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}
