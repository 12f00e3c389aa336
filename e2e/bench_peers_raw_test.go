package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"chaperone/server/chrome"
)

// rawCDP does the same work by CDP calls alone, with the same page script: what a managed action cannot do without. It
// waits two frames after a click, which is what settling may take where nothing began.
type rawCDP struct {
	browser *chrome.Plain
	session string
	script  string
	handle  string
}

func openRawCDP(b *testing.B, browser *chrome.Plain) *rawCDP {
	b.Helper()
	script, err := os.ReadFile("../packager/dist/page.js")
	must(b, err)
	r := &rawCDP{browser: browser, script: string(script) + "\n;globalThis.chaperone"}
	var made struct{ TargetID, SessionID string }
	r.call(b, "Target.createTarget", action{"url": "about:blank"}, &made)
	r.call(b, "Target.attachToTarget", action{"targetId": made.TargetID, "flatten": true}, &made)
	r.session = made.SessionID
	r.call(b, "Page.enable", action{}, nil)
	return r
}

func (r *rawCDP) call(b *testing.B, method string, params action, into any) {
	b.Helper()
	answer, err := r.browser.Call(b.Context(), r.session, method, params)
	if err != nil {
		b.Fatalf("%s: %v", method, err)
	}
	if into != nil {
		must(b, json.Unmarshal(answer, into))
	}
}

func (r *rawCDP) do(b *testing.B, m move) string {
	b.Helper()
	switch m.verb {
	case "open":
		r.open(b, m.value)
	case "click":
		r.click(b, m.ref)
	case "text":
		return r.page(b, "@state", action{}) + r.page(b, "@text", action{"limit": 14_000})
	case "screenshot":
		var shot struct{ Data string }
		r.call(b, "Page.captureScreenshot", action{"format": "png"}, &shot)
		return r.page(b, "@state", action{})
	case "tree":
		var tree json.RawMessage
		r.call(b, "Accessibility.getFullAXTree", action{}, &tree)
		return string(tree)
	}
	return r.page(b, "@state", action{}) + r.page(b, "@snapshot", action{"budget": 12000})
}

// open loads a page and installs the page script in it.
func (r *rawCDP) open(b *testing.B, url string) {
	b.Helper()
	var navigated struct{ FrameID string }
	r.call(b, "Page.navigate", action{"url": url}, &navigated)
	r.evaluate(b, `new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))`)
	r.frames(b)
	var world struct{ ExecutionContextID int }
	r.call(b, "Page.createIsolatedWorld", action{"frameId": navigated.FrameID, "worldName": "bench"}, &world)
	var installed struct{ Result struct{ ObjectID string } }
	r.call(b, "Runtime.evaluate", action{"expression": r.script, "contextId": world.ExecutionContextID}, &installed)
	r.handle = installed.Result.ObjectID
}

func (r *rawCDP) click(b *testing.B, ref string) {
	b.Helper()
	var at struct{ Value struct{ X, Y, At float64 } }
	doc, number, _ := strings.Cut(ref, "/")
	target := json.RawMessage(fmt.Sprintf(`{"doc":%q,"node":%s}`, doc, number))
	must(b, json.Unmarshal([]byte(r.page(b, "@locate", action{"target": target})), &at))
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := action{"type": kind, "x": at.Value.X, "y": at.Value.Y, "button": "left", "clickCount": 1}
		if kind == "mouseMoved" {
			params["button"], params["clickCount"] = "none", 0
		}
		r.call(b, "Input.dispatchMouseEvent", params, nil)
	}
	r.frames(b)
	if answer := r.page(b, "@landed", action{"doc": doc, "at": at.Value.At}); !strings.Contains(answer, `"landed":true`) {
		b.Fatalf("the click did not land: %s", answer)
	}
}

func (r *rawCDP) frames(b *testing.B) {
	b.Helper()
	r.evaluate(b, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))`)
}

func (r *rawCDP) evaluate(b *testing.B, expression string) {
	b.Helper()
	r.call(b, "Runtime.evaluate", action{"expression": expression, "awaitPromise": true}, nil)
}

// page calls a function of the page script.
func (r *rawCDP) page(b *testing.B, name string, args action) string {
	b.Helper()
	var said struct{ Result struct{ Value string } }
	r.call(b, "Runtime.callFunctionOn", action{
		"objectId": r.handle, "functionDeclaration": "function(n,a){return this(n,a)}",
		"arguments": []any{action{"value": name}, action{"value": args}}, "awaitPromise": true, "returnByValue": true,
	}, &said)
	return said.Result.Value
}

// find is the ref, as this tool has them, of the button with a name.
func (r *rawCDP) find(b *testing.B, name string) string {
	b.Helper()
	var seen struct {
		Value struct {
			Doc   string
			Lines []struct {
				Name string
				Node int
			}
		}
	}
	must(b, json.Unmarshal([]byte(r.page(b, "@snapshot", action{"budget": 12000})), &seen))
	for _, line := range seen.Value.Lines {
		if line.Name == name {
			return fmt.Sprintf("%s/%d", seen.Value.Doc, line.Node)
		}
	}
	b.Fatalf("no %q on the page", name)
	return ""
}
