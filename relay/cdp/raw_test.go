package cdp_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"chaperone/relay/cdp"
)

func readVectors(tb testing.TB, path string, into any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatal(err)
	}
}

func loadTable(tb testing.TB) *cdp.Table {
	tb.Helper()
	table, err := cdp.Load()
	if err != nil {
		tb.Fatal(err)
	}
	return table
}

func TestRaw(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	var cases struct {
		Calls []struct {
			Name   string          `json:"name"`
			Level  string          `json:"level"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Reason string          `json:"reason"`
		} `json:"calls"`
	}
	readVectors(t, "testdata/raw.json", &cases)
	for _, c := range cases.Calls {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			verdict := table.Raw(c.Level, c.Method, c.Params)
			if verdict.Reason != c.Reason || len(verdict.Located) > 0 {
				t.Errorf("%+v, want %q", verdict, c.Reason)
			}
		})
	}
}

// TestRawRefusesWhatReadersDisagreeOn is about bytes, which the extension never sees: its judge is given what was read.
func TestRawRefusesWhatReadersDisagreeOn(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	const plain = "params are not one plain JSON object"
	for name, c := range map[string]struct{ method, params, reason string }{
		"a name given twice":               {"Page.navigate", `{"url":"https://example.com/","url":"file:///"}`, plain},
		"a name given twice, in escapes":   {"Page.navigate", `{"url":"https://example.com/","\u0075rl":"file:///"}`, plain},
		"a name given twice further down":  {"Emulation.setEmulatedMedia", `{"features":[{"name":"a","name":"b"}]}`, plain},
		"a name in escapes":                {"Page.navigate", `{"\u0075rl":"https://example.com/"}`, ""},
		"an address in escapes":            {"Page.navigate", `{"url":"\u0066ile:///etc/passwd"}`, "url is not an http, https or about:blank address"},
		"two objects":                      {"Page.reload", `{}{}`, plain},
		"something after the object":       {"Page.reload", `{} x`, plain},
		"no end":                           {"Page.reload", `{"ignoreCache":true`, plain},
		"not JSON":                         {"Page.reload", `{"ignoreCache":True}`, plain},
		"an invalid byte":                  {"Runtime.evaluate", "{\"expression\":\"\xff\"}", plain},
		"a lone surrogate in an escape":    {"Runtime.evaluate", `{"expression":"\ud800"}`, ""},
		"a number beyond all":              {"Emulation.setCPUThrottlingRate", `{"rate":1e999}`, "rate is not of kind number, from 1 to 100"},
		"an integer written as a fraction": {"Page.navigateToHistoryEntry", `{"entryId":30e-1}`, ""},
		"brackets in a text":               {"Runtime.evaluate", `{"expression":"\"` + strings.Repeat("[{", 200) + `"}`, ""},
		"deep after a text's end":          {"Emulation.setEmulatedMedia", `{"media":"\\","features":` + strings.Repeat("[", 200), "params are nested more than 200 levels deep"},
		"space around it":                  {"Page.reload", " { \"ignoreCache\" : true } \n", ""},
		"too deep":                         {"Emulation.setEmulatedMedia", `{"features":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, "params are nested more than 200 levels deep"},
	} {
		want := c.reason
		if want != "" {
			want = c.method + ": " + want
		}
		if got := table.Raw("act", c.method, []byte(c.params)).Reason; got != want {
			t.Errorf("%s: reason %q, want %q", name, got, want)
		}
	}
}

func TestRawCostsNoMoreMemoryForLongerScript(t *testing.T) {
	table := loadTable(t)
	cost := func(length int) float64 {
		params := []byte(`{"expression":"` + strings.Repeat("x", length) + `","returnByValue":true}`)
		return testing.AllocsPerRun(20, func() {
			if verdict := table.Raw("act", "Runtime.evaluate", params); !verdict.Allowed() {
				t.Fatal(verdict.Reason)
			}
		})
	}
	if short, long := cost(100), cost(1<<20); long > short+1 {
		t.Errorf("%v allocations for 100 bytes, %v for 1 MiB", short, long)
	}
}

func TestToSend(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for name, c := range map[string]struct{ method, params, want string }{
		"a native key is not sent on":        {"Input.dispatchKeyEvent", `{"type":"keyDown","nativeVirtualKeyCode":84,"key":"t"}`, `{"key":"t","type":"keyDown"}`},
		"nor in escapes":                     {"Input.dispatchKeyEvent", `{"nativeVirtualKey\u0043ode":84,"text":"\u0074\ud800"}`, `{"text":"\u0074\ud800"}`},
		"nor alone":                          {"Input.dispatchKeyEvent", `{"nativeVirtualKeyCode":84}`, `{}`},
		"nor a zero":                         {"Input.dispatchKeyEvent", `{"nativeVirtualKeyCode":0,"key":"t"}`, `{"key":"t"}`},
		"a key without one stays as it is":   {"Input.dispatchKeyEvent", ` {"type": "keyDown"}`, ` {"type": "keyDown"}`},
		"no params stay none":                {"Input.dispatchKeyEvent", ``, ``},
		"families of fonts stay behind":      {"Page.setFontFamilies", `{"fontFamilies":{"standard":"Times"},"forScripts":[{"script":"Zyyy"}]}`, `{"fontFamilies":{},"forScripts":[]}`},
		"what cannot be read is not sent":    {"Input.dispatchKeyEvent", `{"nativeVirtualKeyCode":84`, `{}`},
		"another method stays as it is":      {"Runtime.evaluate", `{"expression":"nativeVirtualKeyCode"}`, `{"expression":"nativeVirtualKeyCode"}`},
		"the same word in a value stays put": {"Input.dispatchKeyEvent", `{"key":"nativeVirtualKeyCode"}`, `{"key":"nativeVirtualKeyCode"}`},
	} {
		if got := string(table.ToSend(c.method, []byte(c.params))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for method, want := range map[string]bool{
		"Page.getFrameTree": false, "DOM.getDocument": false, "Page.captureScreenshot": false, "Runtime.enable": false,
		"Page.navigate": true, "Page.reload": true, "Runtime.evaluate": true, "Input.insertText": true, "Input.dispatchMouseEvent": true,
		"DOM.setOuterHTML": true, "Emulation.setDeviceMetricsOverride": true, "Network.setExtraHTTPHeaders": true,
		"Storage.getCookies": true, "no.such": true, "": true, "page.getFrameTree": true,
	} {
		if got := table.Writes(method); got != want {
			t.Errorf("Writes(%q) = %v", method, got)
		}
	}
}

func TestEventTold(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for name, c := range map[string]struct {
		level, event string
		want         bool
	}{
		"an event at read":                   {"read", "Page.loadEventFired", true},
		"an event of read at act":            {"act", "Page.loadEventFired", true},
		"what was typed, at read":            {"read", "DOM.characterDataModified", false},
		"what was typed, at act":             {"act", "DOM.characterDataModified", true},
		"a prompt's answer at read":          {"read", "Page.javascriptDialogClosed", false},
		"frames of a socket at read":         {"read", "Network.webSocketFrameSent", false},
		"a picture, which the router makes":  {"act", "Page.screencastFrame", false},
		"bound sessions":                     {"act", "Network.deviceBoundSessionsAdded", false},
		"requests paused":                    {"act", "Fetch.requestPaused", false},
		"addresses filled in":                {"act", "Autofill.addressFormFilled", false},
		"an event in other case":             {"act", "page.loadEventFired", false},
		"an inherited name":                  {"act", "constructor", false},
		"no level":                           {"", "Page.loadEventFired", false},
		"an unknown level":                   {"admin", "Page.loadEventFired", false},
		"one that a program may not wait on": {"read", "Network.requestWillBeSentExtraInfo", true},
	} {
		if got := table.EventTold(c.level, c.event); got != c.want {
			t.Errorf("%s: told %v", name, got)
		}
	}
}

func FuzzRaw(f *testing.F) {
	table := loadTable(f)
	var cases struct {
		Calls []struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		} `json:"calls"`
	}
	readVectors(f, "testdata/raw.json", &cases)
	for _, c := range cases.Calls {
		f.Add(c.Method, []byte(c.Params))
	}
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		read, act := table.Raw("read", method, params), table.Raw("act", method, params)
		if read.Allowed() && !act.Allowed() {
			t.Errorf("read permits what act refuses: %s %s: %s", method, params, act.Reason)
		}
		if act.Allowed() && len(params) > 0 {
			checkPlain(t, params)
		}
		if len(act.Reason) > 300 || strings.ContainsAny(act.Reason, "\x00\r\n") {
			t.Errorf("a reason of %d bytes: %q", len(act.Reason), act.Reason)
		}
	})
}

// checkPlain sees to it that permitted params read the same to encoding/json, whichever of two names it takes.
func checkPlain(t *testing.T, params []byte) {
	t.Helper()
	var read map[string]any
	if err := json.Unmarshal(params, &read); err != nil || read == nil {
		t.Errorf("permitted %q: %v", params, err)
	}
	if url, given := read["url"]; given {
		if text, ok := url.(string); !ok || !cdp.IsPageURL(text) {
			t.Errorf("permitted the address %v", url)
		}
	}
}

func BenchmarkRaw(b *testing.B) {
	table := loadTable(b)
	for name, c := range map[string]struct{ method, params string }{
		"click":     {"Input.dispatchMouseEvent", `{"type":"mousePressed","x":10,"y":20,"button":"left","buttons":1,"clickCount":1,"modifiers":0,"force":0.5}`},
		"script1KB": {"Runtime.evaluate", `{"expression":"` + strings.Repeat("x", 1<<10) + `","returnByValue":true}`},
		"script1MB": {"Runtime.evaluate", `{"expression":"` + strings.Repeat("x", 1<<20) + `","returnByValue":true}`},
	} {
		b.Run(name, func(b *testing.B) {
			params := []byte(c.params)
			b.ReportAllocs()
			b.SetBytes(int64(len(params)))
			for b.Loop() {
				if verdict := table.Raw("act", c.method, params); !verdict.Allowed() {
					b.Fatal(verdict.Reason)
				}
			}
		})
	}
}
