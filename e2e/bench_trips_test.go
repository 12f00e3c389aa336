package e2e_test

import (
	"testing"
	"time"

	"chaperone/server/browse"
)

const (
	tripRounds = 9
	tripAdded  = 80 * time.Millisecond
	// tripBudget is how many round trips of a link an action may take beside the time that it takes near by.
	tripBudget = 1.3
)

// BenchmarkActionInRoundTrips runs each action near by and over a link with 80 ms of round trip added, in turn, and tells
// how many round trips it took.
func BenchmarkActionInRoundTrips(b *testing.B) {
	near, away := openFar(b, 0), openFar(b, tripAdded/2)
	here, there := browse.New(near.browser, browse.Options{}), browse.New(away.browser, browse.Options{})
	for _, a := range tripActions() {
		b.Run(a.Action, func(b *testing.B) {
			for b.Loop() {
				short, long := make([]time.Duration, 0, tripRounds), make([]time.Duration, 0, tripRounds)
				for range tripRounds {
					short = append(short, timed(func() { act(b, here, a) }))
					long = append(long, timed(func() { act(b, there, a) }))
				}
				trips := float64(median(long)-median(short)) / float64(tripAdded)
				b.ReportMetric(ms(median(short)), "ms/near")
				b.ReportMetric(ms(median(long)), "ms/far")
				b.ReportMetric(trips, "round-trips")
				if trips > tripBudget {
					b.Errorf("%s took %.2f round trips, at most %.1f", a.Action, trips, tripBudget)
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

func act(b *testing.B, e *browse.Engine, a browse.Action) {
	b.Helper()
	if _, err := e.Do(b.Context(), a); err != nil {
		b.Fatal(err)
	}
}

// tripActions are the actions of which a page is asked, each as it stands after the ones before it.
func tripActions() []browse.Action {
	return []browse.Action{
		{Action: "snapshot"},
		{Action: "get_text"},
		{Action: "screenshot"},
		{Action: "click", Role: "button", Name: "Count"},
		{Action: "hover", Role: "button", Name: "Count"},
		{Action: "fill", Role: "textbox", Name: "Word", Text: new("fast")},
		{Action: "type", Role: "textbox", Name: "Word", Text: new("er")},
		{Action: "press", Keys: "End"},
		{Action: "select", Role: "combobox", Name: "Colour", Values: []string{"blue"}},
		{Action: "check", Role: "checkbox", Name: "Agreed"},
		{Action: "scroll", Direction: "down"},
		{Action: "eval", JS: "1 + 1"},
	}
}
