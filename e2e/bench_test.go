package e2e_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/demo"
	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server"
)

// BenchmarkOneProgramAgainstCallByCall runs a click with everything around it through a real link, as one program
// and as the same calls one by one, near (0 ms added) and far (80 ms round trip added), and reports how many
// times longer call by call takes.
func BenchmarkOneProgramAgainstCallByCall(b *testing.B) {
	for _, roundTrip := range []time.Duration{0, 80 * time.Millisecond} {
		b.Run(fmt.Sprintf("added=%s", roundTrip), func(b *testing.B) {
			far := openFar(b, roundTrip/2)
			whole, single := clickAsOne(), clickAsMany()
			far.run(b, whole) // both ways warm: world made, debugger attached
			rounds := max(b.N, 15)
			one, many := make([]time.Duration, 0, rounds), make([]time.Duration, 0, rounds)
			for range rounds {
				one = append(one, timed(func() { far.run(b, whole) }))
				many = append(many, timed(func() {
					for _, p := range single {
						far.run(b, p)
					}
				}))
			}
			b.ReportMetric(ms(median(one)), "ms/program")
			b.ReportMetric(ms(median(many)), "ms/call-by-call")
			b.ReportMetric(float64(median(many))/float64(median(one)), "ratio")
			if roundTrip > 0 {
				b.ReportMetric(float64(median(one))/float64(roundTrip), "round-trips/program")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

const countButton = `{"role":"button","name":"Count"}`

// clickAsOne is the program of a click: find, press, see that it landed, settle, look.
func clickAsOne() program.Program {
	mouse := func(kind string) program.Step {
		return program.Step{Call: "Input.dispatchMouseEvent", Params: json.RawMessage(
			`{"type":"` + kind + `","x":{"$":"0.x"},"y":{"$":"0.y"},"button":"left","clickCount":1}`)}
	}
	steps := append([]program.Step{find()}, mouse("mousePressed"), mouse("mouseReleased"))
	return program.Program{Tab: "t1", DeadlineMS: 30_000, Steps: append(steps, after()...)}
}

// clickAsMany is the same calls, each a round trip of its own. The button stands still, so its place is known.
func clickAsMany() []program.Program {
	mouse := func(kind string) program.Step {
		return program.Step{Call: "Input.dispatchMouseEvent", Params: json.RawMessage(
			`{"type":"` + kind + `","x":400,"y":300,"button":"left","clickCount":1}`)}
	}
	steps := append([]program.Step{find()}, mouse("mousePressed"), mouse("mouseReleased"))
	steps = append(steps, after()...)
	programs := make([]program.Program, 0, len(steps))
	for _, s := range steps {
		programs = append(programs, program.Program{Tab: "t1", DeadlineMS: 30_000, Steps: []program.Step{s}})
	}
	return programs
}

func find() program.Step {
	return program.Step{Run: "@locate", Args: json.RawMessage(`{"target":` + countButton + `}`)}
}

func after() []program.Step {
	return []program.Step{
		{Run: "@landed", Args: json.RawMessage(`{}`)},
		{Settle: &program.Settle{QuietMS: 20, MaxMS: 2000}},
		{Run: "@state", Args: json.RawMessage(`{}`)},
		{Run: "@snapshot", Args: json.RawMessage(`{"budget":12000}`), EachFrame: true},
	}
}

// far is a real extension on a link with a length.
type far struct {
	browser *relay.Browser
	person  *demo.Person
	page    string // the shared page's address
	line    *delayed
}

func (f *far) run(b *testing.B, p program.Program) {
	b.Helper()
	result, err := f.browser.Run(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	if result.Error != nil {
		b.Fatalf("step %d: %v", result.Error.Step, result.Error)
	}
}

// benchPairing is the authority of a bench: one project, always permitted to act.
type benchPairing relay.Pairing

func (p benchPairing) Pairing(context.Context, string, string) (relay.Pairing, error) {
	return relay.Pairing(p), nil
}

func (p benchPairing) Check(context.Context, relay.Pairing) error { return nil }

func openFar(b *testing.B, each time.Duration) *far {
	b.Helper()
	pairing := benchPairing{
		Account: "a", AccountName: "me", Project: "p_bench", ProjectName: "bench", Token: "bench-token-bench-token", Level: program.LevelAct,
	}
	hub := relay.NewHub(relay.Options{
		Authority: pairing, Host: func(string) bool { return true }, ServerName: "bench", ExtensionID: server.ExtensionID,
	})
	b.Cleanup(func() { _ = hub.Close(context.Background()) })
	front := httptest.NewUnstartedServer(hub)
	line := &delayed{Listener: front.Listener, each: each}
	front.Listener = line
	front.Start()
	b.Cleanup(front.Close)
	person, page := shareBenchPage(b, front.Listener.Addr(), pairing)
	browser, err := hub.Open(b.Context(), relay.OpenOptions{Account: "a", Project: "p_bench", Session: "s_bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = browser.Close(context.Background()) })
	return &far{browser: browser, person: person, page: page, line: line}
}

func shareBenchPage(b *testing.B, at net.Addr, p benchPairing) (*demo.Person, string) {
	b.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(benchPage()))
	}))
	b.Cleanup(page.Close)
	person, err := demo.Arrive(b.Context(), demo.PersonOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = person.Close() })
	tab, err := person.Visit(b.Context(), page.URL)
	if err != nil {
		b.Fatal(err)
	}
	code, err := json.Marshal(map[string]string{"server": "http://" + at.String(), "token": p.Token, "project": p.Project, "name": p.ProjectName})
	if err != nil {
		b.Fatal(err)
	}
	if err := person.Pair(b.Context(), "chaperone1."+base64.RawURLEncoding.EncodeToString(code)); err != nil {
		b.Fatal(err)
	}
	if err := person.Share(b.Context(), tab, "act"); err != nil {
		b.Fatal(err)
	}
	return person, page.URL
}

// benchPage is a page of 20 links, a button that counts and a small form.
func benchPage() string {
	var page strings.Builder
	page.WriteString(`<!doctype html><title>Bench</title><h1>Bench</h1><button style="position:fixed;left:350px;top:280px;width:100px;height:40px"
onclick="o.textContent=++n">Count</button><output id="o"></output>
<form><input aria-label="Word"><select aria-label="Colour"><option>red<option>blue</select><label><input type="checkbox"> Agreed</label></form><script>var n = 0</script>`)
	for i := range 20 {
		fmt.Fprintf(&page, `<p><a href="/%d">Link number %d</a></p>`, i, i)
	}
	return page.String()
}

func timed(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}

func median(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
