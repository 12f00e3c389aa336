package relay_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

// ran is what Browser.Run answered.
type ran struct {
	result program.Result
	err    error
}

func run(t *testing.T, b *relay.Browser, p program.Program) <-chan ran {
	t.Helper()
	return runIn(t.Context(), b, p)
}

func runIn(ctx context.Context, b *relay.Browser, p program.Program) <-chan ran {
	answered := make(chan ran, 1)
	go func() {
		result, err := b.Run(ctx, p)
		answered <- ran{result, err}
	}()
	return answered
}

// clickIn is a program that is permitted at the level read.
func clickIn(tab string) program.Program {
	return program.Program{Tab: tab, DeadlineMS: 10_000, Steps: []program.Step{
		{Run: "@locate", Args: []byte(`{"ref":"e12"}`)},
		{Call: "Input.dispatchMouseEvent", Params: []byte(`{"type":"mousePressed","x":{"$":"0.x"},"y":{"$":"0.y"},"button":"left","clickCount":1}`)},
		{Settle: &program.Settle{QuietMS: 150, MaxMS: 5000}},
	}}
}

func TestAProgramCrossesUnchangedAndIsAnsweredOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		answered := run(w.t, w.open("s_1"), clickIn("t1"))
		f := e.want("program")
		if f.head["session"] != "s_1" {
			w.t.Errorf("header %v", f.head)
		}
		if got := f.program(w.t); !reflect.DeepEqual(got, clickIn("t1")) {
			w.t.Errorf("program\n got %+v\nwant %+v", got, clickIn("t1"))
		}
		e.answer(f, `{"tab":"t1","steps":[{"x":1.50,"y":2},null,{"navigated":false,"quiet":true}],"elapsed_ms":7}`)
		got := <-answered
		if got.err != nil || got.result.Tab != "t1" || got.result.ElapsedMS != 7 || string(got.result.Steps[0]) != `{"x":1.50,"y":2}` {
			w.t.Errorf("result %+v, %v", got.result, got.err)
		}
	})
}

func TestHowAProgramIsAnswered(t *testing.T) {
	tests := map[string]struct {
		answer func(e *extension, f frame)
		code   string // of the error
		step   string // of Result.Error
	}{
		"a step that failed is a result": {
			func(e *extension, f frame) {
				e.answer(f, `{"tab":"t1","steps":[],"error":{"step":0,"code":"stale_ref","message":"gone"}}`)
			}, "", "stale_ref",
		},
		"a refusal of the extension is an error": {
			func(e *extension, f frame) {
				e.send(object{"t": "error", "id": f.id(), "code": "tab_closed", "message": "t1 was closed"})
			}, "tab_closed", "",
		},
		"an answer of another kind is dropped": {
			func(e *extension, f frame) {
				e.send(object{"t": "picture", "id": f.id()}, "AAAA")
				e.answer(f, `{"tab":"t1"}`)
			}, "", "",
		},
		"a second answer is dropped": {
			func(e *extension, f frame) {
				e.answer(f, `{"tab":"t1"}`)
				e.answer(f, `{"tab":"t1","error":{"code":"internal"}}`)
			}, "", "",
		},
		"an answer that is not JSON is an error": {
			func(e *extension, f frame) { e.answer(f, `{"tab":`) }, "internal", "",
		},
		"an answer without a body is an error": {
			func(e *extension, f frame) { e.send(object{"t": "result", "id": f.id()}) }, "internal", "",
		},
		"a link that ends is an error": {
			func(e *extension, _ frame) { _ = e.conn.CloseNow() }, "not_connected", "",
		},
		"an answer just before the end counts": {
			func(e *extension, f frame) { e.answer(f, `{"tab":"t1"}`); _ = e.conn.CloseNow() }, "", "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				answered := run(w.t, w.open("s_1"), clickIn("t1"))
				tt.answer(e, e.want("program"))
				got := <-answered
				if code(got.err) != tt.code || (tt.code == "") != (got.err == nil) {
					w.t.Errorf("error %v, want %q", got.err, tt.code)
				}
				if got.result.Error != nil && got.result.Error.Code != tt.step || got.result.Error == nil && tt.step != "" {
					w.t.Errorf("step error %v, want %q", got.result.Error, tt.step)
				}
			})
		})
	}
}

func TestAProgramIsNeverReplayed(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(w.t, b, clickIn("t1"))
		e.want("program")
		_ = e.conn.CloseNow()
		if got := <-answered; code(got.err) != "not_connected" || !strings.Contains(got.err.Error(), "may have been done") {
			w.t.Errorf("run: %v", got.err)
		}
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.send(object{"t": "ping"})
		again.want("pong")
		if isDone(b) {
			w.t.Error("the session ended with the link")
		}
	})
}

func TestACallWaitsForTheLinkToComeBack(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		_ = e.conn.CloseNow()
		synctest.Wait()
		answered := run(w.t, b, clickIn("t1"))
		pass(w.t, 10*time.Second-time.Millisecond)
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.answer(again.want("program"), `{"tab":"t1"}`)
		if got := <-answered; got.err != nil {
			w.t.Errorf("run: %v", got.err)
		}
		_ = again.conn.CloseNow()
		synctest.Wait()
		start := time.Now()
		if _, err := b.Run(w.t.Context(), clickIn("t1")); code(err) != "not_connected" || time.Since(start) != 10*time.Second {
			w.t.Errorf("run: %v after %s", err, time.Since(start))
		}
	})
}

func TestAContextThatEndsCancelsAtTheEdge(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		ctx, cancel := context.WithCancel(w.t.Context())
		answered := runIn(ctx, b, clickIn("t1"))
		f := e.want("program")
		cancel()
		if got := e.want("cancel").id(); got != f.id() {
			w.t.Errorf("cancelled %v, want %v", got, f.id())
		}
		if got := <-answered; !errors.Is(got.err, context.Canceled) {
			w.t.Errorf("run: %v", got.err)
		}
		e.answer(f, `{"tab":"t1","elapsed_ms":1}`)
		next := run(w.t, b, clickIn("t1"))
		e.answer(e.want("program"), `{"tab":"t1","elapsed_ms":2}`)
		if got := <-next; got.result.ElapsedMS != 2 {
			w.t.Errorf("the late answer was taken for the next: %+v", got)
		}
	})
}

func TestProgramsUnderWayAreAtMostSixtyFour(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		frames := make([]frame, 0, 64)
		answered := make([]<-chan ran, 0, 64)
		for range 64 {
			answered = append(answered, run(w.t, b, clickIn("t1")))
			frames = append(frames, e.want("program"))
		}
		if _, err := b.Run(w.t.Context(), clickIn("t1")); code(err) != "busy" {
			w.t.Errorf("the sixty-fifth: %v", err)
		}
		for _, f := range frames {
			e.answer(f, `{"tab":"t1"}`)
		}
		for _, got := range answered {
			<-got
		}
		last := run(w.t, b, clickIn("t1"))
		e.answer(e.want("program"), `{"tab":"t1"}`)
		if got := <-last; got.err != nil {
			w.t.Errorf("with room again: %v", got.err)
		}
	})
}

func TestProgramsAreHeldAgainstTheMethodTable(t *testing.T) {
	insert := program.Step{Call: "Input.insertText", Params: []byte(`{"text":"x"}`)}
	cookies := program.Step{Call: "Storage.getCookies"}
	tests := map[string]struct {
		ceiling, grant program.Level
		step           program.Step
		code           string
	}{
		"typing in a tab shared to act":              {program.LevelAct, program.LevelAct, insert, ""},
		"typing in a tab shared to read":             {program.LevelAct, program.LevelRead, insert, "forbidden"},
		"typing under a policy to read":              {program.LevelRead, program.LevelAct, insert, "forbidden"},
		"a click under a policy to read":             {program.LevelRead, program.LevelAct, clickIn("t1").Steps[0], ""},
		"cookies at any level":                       {program.LevelAct, program.LevelAct, cookies, "forbidden"},
		"a step of two kinds":                        {program.LevelAct, program.LevelAct, program.Step{Call: "Input.insertText", Run: "@state"}, "bad_request"},
		"a ceiling that is no level permits nothing": {"", program.LevelAct, clickIn("t1").Steps[0], "forbidden"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				shared := tab("t1", "")
				shared.Level = tt.grant
				e := w.pair(honest().with(shared))
				w.hub.SetLevel(account, project, tt.ceiling)
				e.want("level")
				answered := run(w.t, w.open("s_1"), program.Program{Tab: "t1", DeadlineMS: 1000, Steps: []program.Step{tt.step}})
				if tt.code == "" {
					e.answer(e.want("program"), `{"tab":"t1"}`)
				}
				if got := <-answered; code(got.err) != tt.code || (tt.code == "") != (got.err == nil) {
					w.t.Errorf("run: %v, want %q", got.err, tt.code)
				}
			})
		})
	}
}

func TestAProgramIsAtMostTwoMebibytes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.pair(honest())
		p := clickIn("t1")
		p.Steps[0].Args = []byte(`{"ref":"` + strings.Repeat("x", 2<<20) + `"}`)
		if _, err := w.open("s_1").Run(w.t.Context(), p); code(err) != "too_large" {
			w.t.Errorf("run: %v", err)
		}
	})
}
