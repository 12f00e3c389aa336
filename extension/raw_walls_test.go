package extension_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a server that lies may not do to a read-only tab over the raw road, by any spelling.
func TestAServerDoesNoMoreToAReadOnlyTabOverTheRawRoad(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "read")
	s.server.hold(s.name)
	document := s.server.mustRaw(s.name, "DOM.getDocument", nil)
	if !strings.Contains(string(document), "nodeId") {
		t.Fatalf("the document is %s", document)
	}
	attacks := map[string]struct {
		method string
		params object
	}{
		"a key":                       {"Input.dispatchKeyEvent", object{"type": "keyDown", "key": "Enter"}},
		"text":                        {"Input.insertText", object{"text": "x"}},
		"text, composed":              {"Input.imeSetComposition", object{"text": "x", "selectionStart": 0, "selectionEnd": 1}},
		"a click":                     {"Input.dispatchMouseEvent", object{"type": "mousePressed", "x": 50, "y": 100, "button": "left", "clickCount": 1}},
		"a click at a located place":  {"Input.dispatchMouseEvent", object{"type": "mousePressed", "x": object{"$": "0.x"}, "y": object{"$": "0.y"}, "button": "left", "clickCount": 1}},
		"a touch":                     {"Input.dispatchTouchEvent", object{"type": "touchStart", "touchPoints": []any{object{"x": 1, "y": 1}}}},
		"a tap":                       {"Input.synthesizeTapGesture", object{"x": 1, "y": 1}},
		"something dragged":           {"Input.dispatchDragEvent", object{"type": "drop", "x": 1, "y": 1, "data": object{"items": []any{}, "dragOperationsMask": 1}}},
		"script":                      {"Runtime.evaluate", object{"expression": "document.title = 'owned'"}},
		"script on an object":         {"Runtime.callFunctionOn", object{"functionDeclaration": "() => { document.title = 'owned' }", "executionContextId": 1}},
		"script, compiled":            {"Runtime.compileScript", object{"expression": "document.title = 'owned'", "sourceURL": "", "persistScript": true}},
		"script in a world":           {"Page.createIsolatedWorld", object{"frameId": s.tab.target, "worldName": "x"}},
		"script to come":              {"Page.addScriptToEvaluateOnNewDocument", object{"source": "document.title = 'owned'"}},
		"script to come, by old name": {"Page.addScriptToEvaluateOnLoad", object{"scriptSource": "document.title = 'owned'"}},
		"a reload with script":        {"Page.reload", object{"scriptToEvaluateOnLoad": "document.title = 'owned'"}},
		"a binding":                   {"Runtime.addBinding", object{"name": "owned"}},
		"a script's source":           {"Debugger.setScriptSource", object{"scriptId": "1", "scriptSource": "0"}},
		"a pause":                     {"Debugger.pause", object{}},
		"an attribute":                {"DOM.setAttributeValue", object{"nodeId": 1, "name": "onload", "value": "document.title='owned'"}},
		"attributes":                  {"DOM.setAttributesAsText", object{"nodeId": 1, "text": "onload=x"}},
		"markup":                      {"DOM.setOuterHTML", object{"nodeId": 1, "outerHTML": "<title>owned</title>"}},
		"a node's value":              {"DOM.setNodeValue", object{"nodeId": 1, "value": "owned"}},
		"a node's name":               {"DOM.setNodeName", object{"nodeId": 1, "name": "script"}},
		"a node removed":              {"DOM.removeNode", object{"nodeId": 1}},
		"a file":                      {"DOM.setFileInputFiles", object{"nodeId": 1, "files": []any{"/etc/passwd"}}},
		"a document":                  {"Page.setDocumentContent", object{"frameId": s.tab.target, "html": "owned"}},
		"a style":                     {"CSS.setStyleSheetText", object{"styleSheetId": "1", "text": "*{display:none}"}},
		"a dialog accepted":           {"Page.handleJavaScriptDialog", object{"accept": true}},
		"a posting navigation":        {"Page.navigate", object{"url": s.site.URL + "/written", "postData": "x"}},
		"a file's address":            {"Page.navigate", object{"url": "file:///etc/passwd"}},
		"a script's address":          {"Page.navigate", object{"url": "javascript:document.title='owned'"}},
		"the extension's own page":    {"Page.navigate", object{"url": "chrome-extension://" + extensionID + "/popup.html"}},
		"the server's own pages":      {"Page.navigate", object{"url": s.server.http.URL}},
		"cookies":                     {"Network.getCookies", object{}},
		"all cookies":                 {"Storage.getCookies", object{}},
		"interception":                {"Fetch.enable", object{}},
		"a target":                    {"Target.createTarget", object{"url": "about:blank"}},
		"all targets":                 {"Target.setAutoAttach", object{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": []any{object{}}}},
		"nobody's children":           {"Target.setAutoAttach", object{"autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true}},
		"a screencast":                {"Page.startScreencast", object{"format": "jpeg"}},
		"the page script's end":       {"Page.removeScriptToEvaluateOnNewDocument", object{"identifier": "1"}},
	}
	for sentence, attack := range attacks {
		method := attack.method
		name := strings.ToUpper(method[:1]) + strings.ToLower(method[1:])
		for _, spelt := range []string{method, strings.ToLower(method), name, method + " ", " " + method, method + "\x00", method + "\u200b", "\ufeff" + method} {
			if got := s.server.raw(s.name, spelt, attack.params); got.T != "error" || got.Code != "forbidden" {
				t.Errorf("%s by %q is answered %+v %s, want forbidden", sentence, spelt, got.header, got.body)
			}
		}
	}
	s.tab.until("document.readyState === 'complete' && document.title === 'Page /first'")
	if writes := s.writes.Load(); writes != 0 {
		t.Errorf("%d writes arrived, want none", writes)
	}
}

func TestOnlyTheSessionsOwnTabsAreReachedOverTheRawRoad(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	for sentence, ask := range map[string]struct {
		head object
		code string
	}{
		"another session's tab":             {object{"session": "s_2", "tab": s.name}, "forbidden"},
		"a tab that is not shared":          {object{"session": "s_1", "tab": "t999"}, "tab_closed"},
		"a tab by Chrome's number":          {object{"session": "s_1", "tab": strconv.Itoa(s.tabID())}, "tab_closed"},
		"a tab by its target":               {object{"session": "s_1", "tab": s.tab.target}, "tab_closed"},
		"a session outside of the protocol": {object{"session": "s 1", "tab": s.name}, "bad_request"},
	} {
		for _, kind := range []string{"hold", "cdp", "shut"} {
			ask.head["t"], ask.head["method"] = kind, "Page.reload"
			got := s.server.ask(ask.head, nil)
			if got.T != "error" || got.Code != ask.code {
				t.Errorf("%s of %s is answered %+v, want %s", kind, sentence, got.header, ask.code)
			}
		}
	}
	for _, body := range []any{[]any{}, "x", 1} {
		head := object{"t": "cdp", "session": "s_1", "tab": s.name, "method": "Page.reload"}
		if got := s.server.ask(head, body); got.Code != "bad_request" {
			t.Errorf("params %v are answered %+v, want bad_request", body, got.header)
		}
	}
}

// tabID is what Chrome calls the shared tab.
func (s *sharing) tabID() int {
	s.t.Helper()
	id, _ := s.popup.eval("Number(new URLSearchParams(location.search).get('tab'))").(float64)
	return int(id)
}

func TestAReadOnlyTabSendsNoFormOverTheRawRoadEither(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "read")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Input.dispatchMouseEvent", object{"type": "mouseWheel", "x": 50, "y": 50, "deltaX": 0, "deltaY": 20})
	s.tab.eval("document.getElementById('new').submit()")
	s.tab.eval("void window.open('about:blank'); document.getElementById('same').submit()")
	s.tab.until("location.protocol === 'chrome-error:'")
	if writes := s.writes.Load(); writes != 0 {
		t.Errorf("%d writes arrived, want none", writes)
	}
}

func TestALoweredLevelEndsAHoldAndWhatWasDoneUnderIt(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.hold(s.name)
	s.server.mustRaw(s.name, "Page.addScriptToEvaluateOnNewDocument", object{"source": "window.owned = true"})
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/next"})
	s.tab.until("location.pathname === '/next' && window.owned === true")
	waiting := make(chan frame, 1)
	go func() {
		waiting <- s.server.raw(s.name, "Runtime.evaluate", object{"expression": "new Promise(() => {})", "awaitPromise": true})
	}()
	s.server.until(s.name)
	s.popup.eval("document.querySelector('#level-read').click()")
	if got := <-waiting; got.Code != "forbidden" {
		t.Errorf("the command under way is answered %+v, want forbidden", got.header)
	}
	if got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"}); got.Code != "bad_request" {
		t.Errorf("a later command is answered %+v, want bad_request: nothing is held", got.header)
	}
	s.tab.goTo(s.site.URL + "/after")
	if got := s.tab.eval("window.owned === undefined"); got != true {
		t.Errorf("a script of a higher level still runs")
	}
	s.server.hold(s.name)
	if got := s.server.raw(s.name, "Runtime.evaluate", object{"expression": "1"}); got.Code != "forbidden" {
		t.Errorf("a command beyond the level is answered %+v, want forbidden", got.header)
	}
}

// until waits until a command of a client has gone through after those before it.
func (s *server) until(tab string) {
	s.t.Helper()
	s.evaluate(tab, "1")
}

func TestCookiesAndCredentialsDoNotLeaveOverTheRawRoad(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("document.cookie = 'plain=taste-of-cookie'")
	s.server.hold(s.name)
	mark := s.server.mark()
	s.server.mustRaw(s.name, "Network.enable", nil)
	s.server.mustRaw(s.name, "Page.navigate", object{"url": s.site.URL + "/cookies"})
	s.server.since(mark, "what was sent", event("Network.requestWillBeSentExtraInfo"))
	s.server.since(mark, "what came", event("Network.responseReceivedExtraInfo"))
	s.server.mustRaw(s.name, "Runtime.evaluate", object{"expression": "fetch('/x', {headers: {Authorization: 'Bearer hush-hush'}}).then(() => 1)", "awaitPromise": true})
	s.server.stateMu.Lock()
	told := slices.Clone(s.server.told[mark:])
	s.server.stateMu.Unlock()
	for _, got := range told {
		for _, secret := range []string{"taste-of-cookie", "hush-hush", "secret-of-server"} {
			if got.Method != "" && strings.Contains(string(got.body), secret) {
				t.Errorf("%s tells %s: %s", got.Method, secret, got.body)
			}
		}
	}
}

// Chrome's numbers of nodes are those of a renderer process, which other tabs of the site are in too.
func TestNodesOfAnotherTabAreNotReadByTheirNumbers(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("window.w = open('/private'); 0")
	s.tab.until("w.document.readyState === 'complete' && w.location.pathname === '/private'")
	s.server.hold(s.name)
	for _, method := range []string{"DOM.enable", "Accessibility.enable", "Runtime.enable"} {
		s.server.mustRaw(s.name, method, nil)
	}
	var owns int
	for id := 1; id <= 50; id++ {
		for method, more := range nodeReads {
			params := object{"backendNodeId": id}
			maps.Copy(params, more)
			got := s.server.raw(s.name, method, params)
			if strings.Contains(string(got.body), "/private") || strings.Contains(s.titleOf(got.body), "/private") {
				t.Errorf("%s of node %d with %v tells of a tab that is not shared: %.200s", method, id, more, got.body)
			}
			if strings.Contains(string(got.body), "Page /first") {
				owns++
			}
		}
	}
	if owns == 0 {
		t.Error("no node of the page itself was found by its number")
	}
}

// nodeReads are the commands that take a node by its number, and what goes with it.
var nodeReads = map[string]object{
	"DOM.getOuterHTML":                    {},
	"DOM.describeNode":                    {"depth": -1},
	"DOM.getBoxModel":                     {},
	"DOM.getContentQuads":                 {},
	"DOM.scrollIntoViewIfNeeded":          {},
	"DOM.focus":                           {},
	"DOM.resolveNode":                     {"executionContextId": 1}, // the page's own context
	"Accessibility.getPartialAXTree":      {},
	"Accessibility.getAXNodeAndAncestors": {},
	"Accessibility.queryAXTree":           {"role": "heading"},
}

// titleOf reads the title of the document that a command's object is in, where it answered one.
func (s *sharing) titleOf(body []byte) string {
	s.t.Helper()
	object := objectOf(body)
	if object == "" {
		return ""
	}
	read := map[string]any{"objectId": object, "functionDeclaration": "function () { return (this.ownerDocument ?? this).title }", "returnByValue": true}
	return string(s.server.mustRaw(s.name, "Runtime.callFunctionOn", read))
}

func objectOf(body []byte) string {
	var got struct {
		Object struct {
			ID string `json:"objectId"`
		} `json:"object"`
	}
	_ = json.Unmarshal(body, &got)
	return got.Object.ID
}
