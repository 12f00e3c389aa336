package program_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"chaperone/relay/program"
)

// scenario is one of ../testdata/chromium; the README there says what the fields mean.
type scenario struct {
	Name  string        `json:"name"`
	Level program.Level `json:"level"`
	Turns []struct {
		Program any            `json:"program"`
		Result  map[string]any `json:"result"`
	} `json:"turns"`
}

func TestScenariosInChromium(t *testing.T) {
	const folder = "../testdata/chromium/"
	places := serveSite(t, readFile(t, folder+"site.json"))
	var scenarios []scenario
	if err := json.Unmarshal([]byte(places.Replace(readFile(t, folder+"scenarios.json"))), &scenarios); err != nil {
		t.Fatal(err)
	}
	c := startChromium(t)
	script, table := readFile(t, folder+"page.js"), loadTable(t)
	for _, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			page := c.open(t)
			e := program.NewExecutor(page, program.Options{PageScript: script, Level: s.Level, Table: table})
			page.deliverTo(e)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := e.Attach(ctx); err != nil {
				t.Fatal(err)
			}
			var previous program.Result
			for _, turn := range s.Turns {
				text := withFrames(string(mustMarshal(t, turn.Program)), previous)
				p, err := program.Decode([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				previous = e.Run(ctx, p)
				got := mustMarshal(t, previous)
				if difference := differs(turn.Result, decoded(t, got)); difference != "" {
					t.Fatalf("%s\nprogram %s\nresult %s\nwant %s", difference, text, got, mustMarshal(t, turn.Result))
				}
			}
		})
	}
}

// withFrames fills {FRAME n} from the previous program's first step.
func withFrames(text string, previous program.Result) string {
	if len(previous.Steps) == 0 {
		return text
	}
	var frames []program.FrameResult
	if json.Unmarshal(previous.Steps[0], &frames) != nil {
		return text
	}
	for i, frame := range frames {
		text = strings.ReplaceAll(text, fmt.Sprintf("{FRAME %d}", i), frame.Frame)
	}
	return text
}

func decoded(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// differs says where got is not what want lists.
func differs(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, value := range want {
			if difference := differs(value, fields[name]); difference != "" {
				return name + ": " + difference
			}
		}
		return ""
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			return fmt.Sprintf("%d items, want %d", len(items), len(want))
		}
		for i := range want {
			if difference := differs(want[i], items[i]); difference != "" {
				return fmt.Sprintf("%d: %s", i, difference)
			}
		}
		return ""
	default:
		if want != "*" && want != got {
			return fmt.Sprintf("%v, want %v", got, want)
		}
		return ""
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// serveSite serves the pages of site.json and answers what stands for its sites' addresses.
func serveSite(t *testing.T, site string) *strings.Replacer {
	t.Helper()
	var pages map[string]struct {
		HTML    string            `json:"html"`
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Silent  bool              `json:"silent"`
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, known := pages[r.URL.Path]
		if page.Silent {
			<-r.Context().Done()
			return
		}
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for name, value := range page.Headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(max(page.Status, http.StatusOK))
		_, _ = w.Write([]byte(page.HTML))
	}))
	address := server.Listener.Addr().String()
	port := address[strings.LastIndex(address, ":"):]
	places := strings.NewReplacer("{A}", "http://a.test"+port, "{B}", "http://b.test"+port, "{C}", "http://c.test"+port)
	if err := json.Unmarshal([]byte(places.Replace(site)), &pages); err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return places
}
