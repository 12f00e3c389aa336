package relay_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

// BenchmarkClick compares one action of eight calls as one program with the same calls as a program each,
// over real loopback sockets, with and without the round trip of a distant server. One op is one action.
func BenchmarkClick(b *testing.B) {
	for name, delay := range map[string]time.Duration{"rtt=0ms": 0, "rtt=80ms": 80 * time.Millisecond} {
		b.Run(name+"/one_program", func(b *testing.B) {
			browser := benchBrowser(b, delay)
			for b.Loop() {
				benchRun(b, browser, eightCalls())
			}
		})
		b.Run(name+"/a_program_each", func(b *testing.B) {
			browser := benchBrowser(b, delay)
			for b.Loop() {
				for _, step := range eightCalls() {
					benchRun(b, browser, []program.Step{step})
				}
			}
		})
	}
}

func eightCalls() []program.Step {
	steps := make([]program.Step, 8)
	for i := range steps {
		steps[i] = program.Step{
			Call:   "Input.dispatchMouseEvent",
			Params: []byte(`{"type":"mouseMoved","x":10,"y":20,"button":"none","clickCount":0}`),
		}
	}
	return steps
}

func benchRun(b *testing.B, browser *relay.Browser, steps []program.Step) {
	b.Helper()
	result, err := browser.Run(b.Context(), program.Program{Tab: "t1", DeadlineMS: 10_000, Steps: steps})
	if err != nil || len(result.Steps) != len(steps) {
		b.Fatalf("run: %d results, %v", len(result.Steps), err)
	}
}

// benchBrowser is a session on an extension that answers each program after delay with a result a step.
func benchBrowser(b *testing.B, delay time.Duration) *relay.Browser {
	b.Helper()
	hub := relay.NewHub(relay.Options{
		Authority: newAuthority(), ExtensionID: extensionID, Host: func(string) bool { return true },
	})
	server := httptest.NewServer(hub)
	e := upgrade(b, server.Client(), server.URL)
	e.greet(honest().with(tab("t1", "")))
	e.want("paired")
	var answering sync.WaitGroup
	answering.Go(func() { e.answerAll(delay) })
	b.Cleanup(func() {
		_ = e.conn.CloseNow()
		answering.Wait()
		if err := hub.Close(context.Background()); err != nil {
			b.Errorf("close hub: %v", err)
		}
		server.Close()
	})
	browser, err := hub.Open(b.Context(), relay.OpenOptions{Account: account, Project: project, Session: "s_1"})
	if err != nil {
		b.Fatal(err)
	}
	return browser
}

// answerAll answers programs until the link ends.
func (e *extension) answerAll(delay time.Duration) {
	for {
		f, err := e.read()
		if err != nil {
			return
		}
		results := strings.TrimSuffix(strings.Repeat("{},", len(f.program(e.t).Steps)), ",")
		<-time.After(delay)
		if err := e.write(object{"t": "result", "id": f.id()}, `{"tab":"t1","steps":[`+results+`]}`); err != nil {
			return
		}
	}
}
