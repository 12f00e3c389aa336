package cdp_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type stripCase struct {
	Name   string          `json:"name"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Want   json.RawMessage `json:"want"`
}

func stripCases(tb testing.TB) []stripCase {
	tb.Helper()
	var vectors struct {
		Cases []stripCase `json:"cases"`
	}
	readVectors(tb, "testdata/strip.json", &vectors)
	return vectors.Cases
}

func TestStrip(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for _, c := range stripCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			before := bytes.Clone(c.Params)
			got := table.Strip(c.Method, c.Params)
			want := c.Want
			if want == nil {
				want = c.Params
			}
			if !isSameJSON(t, got, want) {
				t.Errorf("left %s\nwant %s", got, want)
			}
			if !bytes.Equal(before, c.Params) {
				t.Errorf("changed what it was given to %s", c.Params)
			}
		})
	}
}

func isSameJSON(tb testing.TB, a, b []byte) bool {
	tb.Helper()
	var left, right any
	if err := json.Unmarshal(a, &left); err != nil {
		tb.Fatalf("%q: %v", a, err)
	}
	if err := json.Unmarshal(b, &right); err != nil {
		tb.Fatalf("%q: %v", b, err)
	}
	return reflect.DeepEqual(left, right)
}

func TestStripHandsOnWhatLosesNothing(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for method, params := range map[string]string{
		"Page.loadEventFired":      ` { "timestamp" : 1.50 } `,
		"Network.responseReceived": `{"response":{"headers":{"Vary":"Accept"},"n":10000000000000001}}`,
		"Runtime.consoleAPICalled": `{"cookie":"page's own"`,
		"DOM.setChildNodes":        ``,
		"Network.policyUpdated":    ``,
	} {
		given := []byte(params)
		got := table.Strip(method, given)
		if string(got) != params || len(given) > 0 && &got[0] != &given[0] {
			t.Errorf("%s: %q became %q", method, params, got)
		}
	}
}

func TestStripKeepsNumbersAndWordsAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	given := []byte(`{"n":10000000000000001,"s":"\u0041\ud800<","cookie":1,"m":1.50}`)
	if got, want := string(table.Strip("Network.responseReceived", given)), `{"n":10000000000000001,"s":"\u0041\ud800<","m":1.50}`; got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}

func TestStripLetsNothingThroughThatItCannotRead(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for name, params := range map[string]string{
		"no end":       `{"cookie":"a"`,
		"no JSON":      `{"headers":{"Cookie":secret}}`,
		"two values":   `{"cookie":"a"}{"cookie":"b"}`,
		"too deep":     strings.Repeat("[", 20_000) + `{"cookie":"a"}` + strings.Repeat("]", 20_000),
		"a name alone": `{"cookie"}`,
		"no list":      `[{"name":"cookie","value":"a"}`,
		"a history":    `{"entries":[{"url":"file:///a"`,
		"a word":       `secret`,
	} {
		for _, method := range []string{"Network.responseReceived", "Page.getNavigationHistory"} {
			if got := string(table.Strip(method, []byte(params))); got != `{}` {
				t.Errorf("%s of %s: left %.80q", name, method, got)
			}
		}
	}
}

func FuzzStrip(f *testing.F) {
	table := loadTable(f)
	for _, c := range stripCases(f) {
		f.Add([]byte(c.Params))
	}
	f.Add([]byte(`{"\u0063ookie":"a","headers":{"Set-Cookie":["a"]},"a":[{"value":1,"name":"cookie"}]}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		got := table.Strip("Network.responseReceived", params)
		if len(params) == 0 {
			return
		}
		var left any
		if err := json.Unmarshal(got, &left); err != nil {
			t.Fatalf("%q became %q: %v", params, got, err)
		}
		checkStripped(t, left)
		if again := table.Strip("Network.responseReceived", got); !isSameJSON(t, again, got) {
			t.Errorf("%q lost more the second time: %q", got, again)
		}
	})
}

// checkStripped sees to it that no cookie is in what encoding/json reads.
func checkStripped(t *testing.T, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			list, isList := member.([]any)
			isTaken := slices.Contains([]string{"cookie", "set-cookie"}, strings.ToLower(strings.TrimSpace(name))) || name == "postData"
			if isTaken && (!isList || len(list) > 0) {
				t.Errorf("%s is left", name)
			}
			checkStripped(t, member)
		}
	case []any:
		for _, item := range value {
			checkStripped(t, item)
		}
	}
}

func BenchmarkStrip(b *testing.B) {
	table := loadTable(b)
	headers := `"headers":{` + strings.Repeat(`"X-Some-Header":"some value of a header",`, 30) + `"Accept":"*/*"}`
	for name, c := range map[string]struct{ method, params string }{
		"nothing 2KB":       {"Network.responseReceived", `{"response":{` + headers + `}}`},
		"a cookie 2KB":      {"Network.responseReceivedExtraInfo", `{"blockedCookies":[],"headersText":"x",` + headers + `}`},
		"a body of 5MB":     {"Network.getResponseBody", `{"body":"` + strings.Repeat("x", 5<<20) + `","base64Encoded":true}`},
		"a document of 5MB": {"DOM.getDocument", `{"root":"` + strings.Repeat("x", 5<<20) + `"}`},
	} {
		b.Run(name, func(b *testing.B) {
			params := []byte(c.params)
			b.ReportAllocs()
			b.SetBytes(int64(len(params)))
			for b.Loop() {
				table.Strip(c.method, params)
			}
		})
	}
}
