package cdp_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"chaperone/relay/cdp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type cases struct {
	Calls []struct {
		Name    string          `json:"name"`
		Level   string          `json:"level"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Reason  string          `json:"reason"`
		Located []int           `json:"located"`
	} `json:"calls"`
	PageURLs map[string]bool `json:"page_urls"`
}

func load(t *testing.T) (*cdp.Table, cases) {
	t.Helper()
	table, err := cdp.Load()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/calls.json")
	if err != nil {
		t.Fatal(err)
	}
	var c cases
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return table, c
}

func TestCall(t *testing.T) {
	t.Parallel()
	table, cases := load(t)
	for _, c := range cases.Calls {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			verdict := table.Call(c.Level, c.Method, c.Params)
			if verdict.Reason != c.Reason {
				t.Errorf("reason %q, want %q", verdict.Reason, c.Reason)
			}
			if !slices.Equal(verdict.Located, c.Located) {
				t.Errorf("located %v, want %v", verdict.Located, c.Located)
			}
		})
	}
}

func TestCallRefusesANameGivenTwice(t *testing.T) {
	t.Parallel()
	table, _ := load(t)
	verdict := table.Call("act", "Page.navigate", json.RawMessage(`{"url":"https://example.com/","url":"file:///"}`))
	if want := "Page.navigate: params are not one plain JSON object"; verdict.Reason != want {
		t.Errorf("reason %q, want %q", verdict.Reason, want)
	}
}

func TestIsPageURL(t *testing.T) {
	t.Parallel()
	_, cases := load(t)
	for text, want := range cases.PageURLs {
		if got := cdp.IsPageURL(text); got != want {
			t.Errorf("IsPageURL(%q) = %v", text, got)
		}
	}
}

func TestFunctionsAndEvents(t *testing.T) {
	t.Parallel()
	table, _ := load(t)
	for name, c := range map[string]struct {
		verdict cdp.Verdict
		reason  string
	}{
		"a reading function at read":       {table.Function("read", "@snapshot"), ""},
		"a reading function at act":        {table.Function("act", "@snapshot"), ""},
		"a writing function at read":       {table.Function("read", "@select"), "@select is not permitted at level read"},
		"the edge's own question":          {table.Function("act", "@owner"), "@owner is not permitted at any level"},
		"a function at no level":           {table.Function("", "@state"), "@state is not permitted at level "},
		"an event":                         {table.Event("read", "Page.loadEventFired"), ""},
		"an event that can carry a cookie": {table.Event("act", "Network.requestWillBeSentExtraInfo"), "Network.requestWillBeSentExtraInfo is not permitted at any level"},
	} {
		if c.verdict.Reason != c.reason {
			t.Errorf("%s: reason %q, want %q", name, c.verdict.Reason, c.reason)
		}
	}
	if !table.CanRetry("@snapshot") || table.CanRetry("@history") || table.CanRetry("@unknown") {
		t.Error("a function that may run again is not the one that may")
	}
}

func FuzzCall(f *testing.F) {
	table, err := cdp.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Add("Page.navigate", []byte(`{"url":"https://example.com/"}`))
	f.Add("Input.dispatchMouseEvent", []byte(`{"type":"mousePressed","x":{"$":"0.x"},"y":{"$":"0.y"}}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		read, act := table.Call("read", method, params), table.Call("act", method, params)
		if read.Allowed() && !act.Allowed() {
			t.Errorf("read permits what act refuses: %s %s: %s", method, params, act.Reason)
		}
		if read.Allowed() && method == "Input.insertText" {
			t.Errorf("read permits %s %s", method, params)
		}
	})
}
