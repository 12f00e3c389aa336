package browse_test

import (
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// comesTo is what a script comes to: a value, or what it threw.
type comesTo struct {
	value, thrown string
	named         bool // only named: JSON cannot hold it
}

func TestWhateverAScriptComesToIsTold(t *testing.T) {
	script, at := pageScript(t), formSite(t)
	c := launch(t)
	d := drive(t, c, script, browse.Options{})
	d.at = at
	for js, want := range map[string]comesTo{
		"({a: [1, 'b', null, true]})": {value: `{"a":[1,"b",null,true]}`},
		"'text'":                      {value: `"text"`},
		"undefined":                   {value: "undefined"},
		"null":                        {value: "null"},
		"NaN":                         {value: "NaN"},
		"Infinity":                    {value: "Infinity"},
		"-0":                          {value: "-0"},
		"10n":                         {value: "10n"},
		"({then(f) { f(7) }})":        {value: "7"},
		"Promise.resolve({b: 2})":     {value: `{"b":2}`},
		"new Uint8Array(2)":           {value: `{"0":0,"1":0}`},
		"({a: 10n})":                  {value: "Object", named: true},
		"({a: Symbol('x')})":          {value: "Object", named: true},
		"(() => { const a = {}; a.a = a; return a })()":                          {value: "Object", named: true},
		"(() => { const a = []; a.push(a); return a })()":                        {value: "Array(1)", named: true},
		"(() => { let a = {}; for (let i = 0; i < 5000; i++) a = {a}; a })(), 1": {value: "1"},
		"window":                                {value: "Window", named: true},
		"document":                              {value: "#document", named: true},
		"document.body":                         {value: "body", named: true},
		"() => 1":                               {value: "() => 1", named: true},
		"Symbol('x')":                           {value: "Symbol(x)", named: true},
		"new Map([[1, 2]])":                     {value: "Map(1)", named: true},
		"new Error('kept')":                     {value: "Error: kept", named: true},
		"/a/g":                                  {value: "/a/g", named: true},
		"({get a() { throw new Error('no') }})": {value: "Object", named: true},
		"throw 5":                               {thrown: "5"},
		"throw null":                            {thrown: "null"},
		"throw undefined":                       {thrown: "Uncaught"},
		"throw {a: 1}":                          {thrown: "Object"},
		"throw Symbol('s')":                     {thrown: "Symbol(s)"},
		"throw document.body":                   {thrown: "body"},
		"Promise.reject('why')":                 {thrown: `"why"`},
		"Promise.reject()":                      {thrown: "Uncaught (in promise)"},
		"Promise.reject(new Error(1))":          {thrown: "Error: 1"},
		"syntax error":                          {thrown: "SyntaxError"},
	} {
		t.Run(strings.ReplaceAll(js, ",", ";"), func(t *testing.T) {
			d.t = t
			d.open("links.html")
			want.check(d, js)
		})
	}
	d.t = t
	r := d.do(d.named("eval", "", "", map[string]any{"js": "'x'.repeat(20 * 1024 * 1024)"}))
	if len(*r.Returned) != 20_000 || !strings.Contains(strings.Join(r.Notices, " "), "20951522 more characters") {
		t.Errorf("a long text: %d characters, %q", len(*r.Returned), r.Notices)
	}
}

func (want comesTo) check(d *driver, js string) {
	d.t.Helper()
	r, err := d.try(d.named("eval", "", "", map[string]any{"js": js}))
	if want.thrown != "" {
		if f := fault.Of(err); err == nil || f.Code != fault.BadRequest || !strings.Contains(f.Detail, want.thrown) {
			d.t.Errorf("%v, %+v", err, f)
		}
		return
	}
	if err != nil {
		d.t.Fatal(err)
	}
	named := strings.Contains(strings.Join(r.Notices, " "), "JSON cannot hold this value")
	if first, _, _ := strings.Cut(*r.Returned, "\n"); first != want.value || named != want.named {
		d.t.Errorf("%s, %q", heldText(r.Returned), r.Notices)
	}
}
