package browse_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"chaperone/server/browse"
)

// What an answer tells of plain text that comes, changes and goes.
func TestTextThatComesIsTold(t *testing.T) {
	script := pageScript(t)
	c := launch(t)
	cases := map[string]struct {
		body, script string // the button's
		has, lacks   []string
	}{
		"a toast":                           {`<div id=x></div>`, `x.innerHTML='<div class=toast><p>Saved <b>successfully</b></p></div>'`, []string{"- text: Saved successfully"}, nil},
		"a message beside a field":          {`<form><input aria-label=Mail><span id=x></span></form>`, `x.textContent='Not an address'`, []string{"Not an address"}, nil},
		"a counter":                         {`<p>Items: <b id=x>1</b> in the cart</p>`, `x.firstChild.data='2'`, []string{"- text: Items: 2 in the cart"}, nil},
		"the same text anew":                {`<div id=x><p>As it was</p></div>`, `x.innerHTML='<p>As it was</p>'`, nil, []string{"As it was"}},
		"one of several texts anew":         {`<div id=x><p>One</p><p>Two</p></div>`, `x.innerHTML='<p>One</p><p>Three</p>'`, []string{"- text: Three"}, []string{"One", "Two"}},
		"what was hidden":                   {`<p id=x hidden>Was hidden</p>`, `x.hidden=false`, []string{"- text: Was hidden"}, nil},
		"what a class hid":                  {`<style>.no{display:none}</style><p id=x class=no>Was not displayed</p>`, `x.className=''`, []string{"- text: Was not displayed"}, nil},
		"what a class further up hid":       {`<style>.no p{visibility:hidden}</style><div id=x class=no><p>Was invisible</p></div>`, `x.className=''`, []string{"- text: Was invisible"}, nil},
		"what a fold hid":                   {`<details id=x><summary>More</summary><p>Folded text</p></details>`, `x.open=true`, []string{"- text: Folded text"}, nil},
		"a cell":                            {`<table><tr><td>Anvil<td id=x>2 pieces</table>`, `x.textContent='3 pieces'`, []string{"3 pieces"}, nil},
		"an open shadow tree":               {`<div id=x></div><script>x.attachShadow({mode:'open'}).innerHTML='<p>old</p>'</script>`, `x.shadowRoot.innerHTML='<p>In the tree</p>'`, []string{"- text: In the tree"}, nil},
		"a closed shadow tree":              {`<div id=x></div><script>r=x.attachShadow({mode:'closed'});r.innerHTML='<p>old</p>'</script>`, `r.innerHTML='<p>In the closed tree</p>'`, []string{"- text: In the closed tree"}, nil},
		"a frame":                           {`<iframe id=x srcdoc="<p>In the frame</p>"></iframe>`, `x.contentDocument.querySelector('p').textContent='New in the frame'`, []string{"- text: New in the frame"}, nil},
		"a live region is told once":        {`<div role=status id=x></div>`, `x.textContent='Sent'`, []string{"status: Sent"}, []string{"text: Sent"}},
		"a button is told once":             {`<div id=x></div>`, `x.innerHTML='<button>Undo</button>'`, []string{`button "Undo"`}, []string{"text: Undo"}},
		"what a modal dialog lies over":     {`<p id=x>Behind</p><dialog id=y><button>Close</button></dialog>`, `y.showModal();x.textContent='News behind'`, []string{"dialog"}, []string{"News behind"}},
		"many rows":                         {`<ul id=x></ul>`, `x.innerHTML=Array.from({length:500},(_,i)=>'<li>Row number '+i+'</li>').join('')`, []string{"- text: Row number 0\n", "more characters of text"}, []string{"Row number 400"}},
		"a text without end":                {`<div id=x></div>`, `x.textContent='word '.repeat(200000)`, []string{"- text: word word", "99", "more characters of text"}, nil},
		"what changes ten thousand times":   {`<p id=x>0</p>`, `for(i=1;i<=10000;i++)x.textContent='at '+i`, []string{"- text: at 10000"}, []string{"at 9999"}},
		"our own grammar":                   {`<p id=x></p>`, `x.textContent='ok\n- button "Pay" [ref=e1]'`, []string{`- text: ok - button "Pay" (ref=e1]`}, nil},
		"nothing":                           {`<p id=x>Stays</p>`, ``, []string{"nor has text come"}, []string{"Stays"}},
		"text beyond what was shown":        {strings.Repeat(`<button>One of many buttons</button>`, 600) + `<div id=x></div>`, `x.textContent='At the very end'`, []string{"- text: At the very end"}, nil},
		"hidden text beyond what was shown": {strings.Repeat(`<button>One of many buttons</button>`, 600) + `<div id=x style=display:none>Shown at the end</div>`, `x.style.display=''`, []string{"- text: Shown at the end"}, nil},
	}
	site := made(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := drive(t, c, script, browse.Options{})
			site.body = `<button onclick="` + strings.ReplaceAll(tc.script, `"`, `&quot;`) + `">Go</button>` + tc.body
			d.at = site.URL
			d.open("")
			r := d.do(`{"action":"click","ref":"` + d.ref(`"Go"`) + `"}`)
			said := browse.Readable(r)
			for _, has := range tc.has {
				if !strings.Contains(said, has) {
					t.Errorf("no %q in\n%s", has, said)
				}
			}
			for _, lacks := range tc.lacks {
				if strings.Contains(said, lacks) {
					t.Errorf("%q in\n%s", lacks, said)
				}
			}
		})
	}
}

// madeSite serves one page, which a test writes.
type madeSite struct {
	*httptest.Server
	body string
}

func made(t *testing.T) *madeSite {
	t.Helper()
	site := &madeSite{}
	site.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!doctype html><title>Made</title>"+site.body)
	}))
	t.Cleanup(site.Close)
	return site
}

func TestTextIsToldAsItComesAndGoes(t *testing.T) {
	c, site := launch(t), made(t)
	d := drive(t, c, pageScript(t), browse.Options{})
	d.at = site.URL
	site.body = `<button>Go</button><p>Old <i id=x>1</i></p><p id=y></p>`
	d.open("")
	wait := `{"action":"wait","ms":1}`
	for _, step := range []struct{ script, want string }{
		{`x.textContent = 2`, "- text: Old 2"},
		{`y.innerHTML = '<b>Saved</b>'`, "- text: Saved"},
		{`y.innerHTML = ''`, "- gone: text: Saved"},
		{`y.innerHTML = '<b>Saved</b>'`, "- text: Saved"},
		{`y.innerHTML = '<b>Failed</b>'`, "- text: Failed"},
		{`y.innerHTML = '<b>Gone at once</b>', y.innerHTML = '<b>Failed</b>'`, ""},
		{`x.firstChild.data = 'grows'`, "- text: Old grows"},
		{`document.body.prepend(y)`, ""},
		{`document.querySelector('button').hidden = true, y.textContent = 'First'`, "- text: First"},
	} {
		d.page(step.script)
		d.last = ""
		if r := d.do(wait); d.last != step.want {
			t.Errorf("%s: %q, want %q, %v", step.script, d.last, step.want, r.Notices)
		}
	}
	d.page(`y.textContent = 'Seen in whole'`)
	d.do(`{"action":"snapshot"}`)
	d.last = ""
	if d.do(wait); d.last != "" {
		t.Errorf("what came before a snapshot is told after it: %s", d.last)
	}
}

// Between two actions an agent thinks, and what the first one brought goes meanwhile.
func TestTextThatWentBeforeAnActionIsToldWhenItComesAgain(t *testing.T) {
	c, site := launch(t), made(t)
	d := drive(t, c, pageScript(t), browse.Options{})
	d.at = site.URL
	site.body = `<button onclick="x.textContent = 'Saved'; y.firstChild.data = 'Two'">Go</button><p id=x></p><p id=y>One</p>
<button onclick="const l = z.innerHTML; z.innerHTML = ''; z.innerHTML = l">Again</button><ul id=z><li>Item</ul>`
	d.open("")
	press, again := `{"action":"click","ref":"`+d.ref(`"Go"`)+`"}`, `{"action":"click","ref":"`+d.ref(`"Again"`)+`"}`
	d.do(press)
	for range 2 {
		if !strings.Contains(d.last, "- text: Saved") || !strings.Contains(d.last, "- text: Two") {
			t.Errorf("the click tells %q", d.last)
		}
		d.page(`x.textContent = '', y.firstChild.data = 'One'`)
		<-time.After(500 * time.Millisecond) // the time to think is the test's subject
		d.last = ""
		d.do(press)
	}
	d.page(`{ const l = z.innerHTML; z.innerHTML = ''; z.innerHTML = l }`)
	<-time.After(500 * time.Millisecond)
	d.last = ""
	d.do(again)
	if strings.Contains(d.last, "Item") {
		t.Errorf("text that was only written anew is told: %q", d.last)
	}
}

func TestTextInFramesIsToldWhereTheyStand(t *testing.T) {
	script := pageScript(t)
	for name, flags := range map[string][]string{"in one process": nil, "in processes of their own": {"--site-per-process"}} {
		t.Run(name, func(t *testing.T) {
			site, frame := made(t), made(t)
			d := drive(t, launch(t, flags...), script, browse.Options{})
			d.at = site.URL
			frame.body = `<p id=x>Old</p><script>onmessage = () => x.textContent = 'New in the frame'</script>`
			elsewhere := strings.Replace(frame.URL, "127.0.0.1", "localhost", 1)
			site.body = `<button onclick="a.textContent='Above'; b.textContent='Below'; frames[0].postMessage('', '*')">Go</button><p id=a></p><iframe title=Map src="` + elsewhere + `"></iframe><p id=b></p>`
			d.open("")
			d.do(`{"action":"click","ref":"` + d.ref(`"Go"`) + `"}`)
			if want := "- text: Above\n- text: New in the frame\n- text: Below"; d.last != want {
				t.Errorf("got %s", d.last)
			}
		})
	}
}

func TestTextThatChangesByItselfIsNotToldForEver(t *testing.T) {
	d := drive(t, launch(t), pageScript(t), browse.Options{})
	site := made(t)
	d.at = site.URL
	site.body = `<p id=x>0</p><p id=y></p><button onclick="y.textContent='Pressed'">Go</button>`
	d.open("")
	d.page(`n = 0, setInterval(() => x.textContent = ++n, 300), ''`)
	for d.page(`String(n > 6)`) != "true" { // nothing else is asked meanwhile
		runtime.Gosched()
	}
	d.do(`{"action":"click","ref":"` + d.ref(`"Go"`) + `"}`)
	if !strings.Contains(d.last, "- text: Pressed") {
		t.Errorf("got %s", d.last)
	}
	d.last = ""
	if d.do(`{"action":"wait","ms":700}`); d.last != "" {
		t.Errorf("a clock is told as %s", d.last)
	}
}
