package relay_test

import (
	"context"
	"encoding/base64"
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

func code(err error) string {
	if e, ok := errors.AsType[*program.Error](err); ok {
		return e.Code
	}
	return ""
}

func isDone(b *relay.Browser) bool {
	synctest.Wait()
	select {
	case <-b.Done():
		return true
	default:
		return false
	}
}

func TestAProgramCrossesUnchangedAndIsAnsweredOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		answered := run(t, w.open("s_1"), clickIn("t1"))
		f := e.want("program")
		if f.head["session"] != "s_1" {
			t.Errorf("header %v", f.head)
		}
		if got := f.program(t); !reflect.DeepEqual(got, clickIn("t1")) {
			t.Errorf("program\n got %+v\nwant %+v", got, clickIn("t1"))
		}
		e.answer(f, `{"tab":"t1","steps":[{"x":1.50,"y":2},null,{"navigated":false,"quiet":true}],"elapsed_ms":7}`)
		got := <-answered
		if got.err != nil || got.result.Tab != "t1" || got.result.ElapsedMS != 7 || string(got.result.Steps[0]) != `{"x":1.50,"y":2}` {
			t.Errorf("result %+v, %v", got.result, got.err)
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
			inWorld(t, func(t *testing.T, w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				answered := run(t, w.open("s_1"), clickIn("t1"))
				tt.answer(e, e.want("program"))
				got := <-answered
				if code(got.err) != tt.code || (tt.code == "") != (got.err == nil) {
					t.Errorf("error %v, want %q", got.err, tt.code)
				}
				if got.result.Error != nil && got.result.Error.Code != tt.step || got.result.Error == nil && tt.step != "" {
					t.Errorf("step error %v, want %q", got.result.Error, tt.step)
				}
			})
		})
	}
}

func TestAProgramIsNeverReplayed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(t, b, clickIn("t1"))
		e.want("program")
		_ = e.conn.CloseNow()
		if got := <-answered; code(got.err) != "not_connected" || !strings.Contains(got.err.Error(), "may have been done") {
			t.Errorf("run: %v", got.err)
		}
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.send(object{"t": "ping"})
		again.want("pong")
		if isDone(b) {
			t.Error("the session ended with the link")
		}
	})
}

func TestACallWaitsForTheLinkToComeBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		_ = e.conn.CloseNow()
		synctest.Wait()
		answered := run(t, b, clickIn("t1"))
		pass(t, 10*time.Second-time.Millisecond)
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.answer(again.want("program"), `{"tab":"t1"}`)
		if got := <-answered; got.err != nil {
			t.Errorf("run: %v", got.err)
		}
		_ = again.conn.CloseNow()
		synctest.Wait()
		start := time.Now()
		if _, err := b.Run(t.Context(), clickIn("t1")); code(err) != "not_connected" || time.Since(start) != 10*time.Second {
			t.Errorf("run: %v after %s", err, time.Since(start))
		}
	})
}

func TestAContextThatEndsCancelsAtTheEdge(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		ctx, cancel := context.WithCancel(t.Context())
		answered := runIn(ctx, b, clickIn("t1"))
		f := e.want("program")
		cancel()
		if got := e.want("cancel").id(); got != f.id() {
			t.Errorf("cancelled %v, want %v", got, f.id())
		}
		if got := <-answered; !errors.Is(got.err, context.Canceled) {
			t.Errorf("run: %v", got.err)
		}
		e.answer(f, `{"tab":"t1","elapsed_ms":1}`)
		next := run(t, b, clickIn("t1"))
		e.answer(e.want("program"), `{"tab":"t1","elapsed_ms":2}`)
		if got := <-next; got.result.ElapsedMS != 2 {
			t.Errorf("the late answer was taken for the next: %+v", got)
		}
	})
}

func TestProgramsUnderWayAreAtMostSixtyFour(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		var frames []frame
		var answered []<-chan ran
		for range 64 {
			answered = append(answered, run(t, b, clickIn("t1")))
			frames = append(frames, e.want("program"))
		}
		if _, err := b.Run(t.Context(), clickIn("t1")); code(err) != "busy" {
			t.Errorf("the sixty-fifth: %v", err)
		}
		for _, f := range frames {
			e.answer(f, `{"tab":"t1"}`)
		}
		for _, got := range answered {
			<-got
		}
		last := run(t, b, clickIn("t1"))
		e.answer(e.want("program"), `{"tab":"t1"}`)
		if got := <-last; got.err != nil {
			t.Errorf("with room again: %v", got.err)
		}
	})
}

func TestASessionSeesAndDrivesOnlyItsTabs(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		b := w.open("s_1")
		w.open("s_2")
		e.send(object{"t": "tabs", "tabs": []program.Tab{tab("t1", "s_1"), tab("t2", "s_2"), tab("t3", "")}})
		synctest.Wait()
		if got := b.Tabs(); len(got) != 2 || got[0].ID != "t1" || got[1].ID != "t3" {
			t.Errorf("tabs %+v", got)
		}
		if _, err := b.Run(t.Context(), clickIn("t2")); code(err) != "forbidden" {
			t.Errorf("another session's tab: %v", err)
		}
		if err := b.Cast(t.Context(), program.CastOptions{Tab: "t2"}, nil); code(err) != "forbidden" {
			t.Errorf("another session's tab: %v", err)
		}
		answered := run(t, b, clickIn("t9"))
		e.answer(e.want("program"), `{"tab":"t9"}`)
		if got := <-answered; got.err != nil {
			t.Errorf("a tab that is not known yet: %v", got.err)
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
			inWorld(t, func(t *testing.T, w *world) {
				shared := tab("t1", "")
				shared.Level = tt.grant
				e := w.pair(honest().with(shared))
				w.hub.SetLevel(account, project, tt.ceiling)
				e.want("level")
				answered := run(t, w.open("s_1"), program.Program{Tab: "t1", DeadlineMS: 1000, Steps: []program.Step{tt.step}})
				if tt.code == "" {
					e.answer(e.want("program"), `{"tab":"t1"}`)
				}
				if got := <-answered; code(got.err) != tt.code || (tt.code == "") != (got.err == nil) {
					t.Errorf("run: %v, want %q", got.err, tt.code)
				}
			})
		})
	}
}

func TestAProgramIsAtMostTwoMebibytes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.pair(honest())
		p := clickIn("t1")
		p.Steps[0].Args = []byte(`{"ref":"` + strings.Repeat("x", 2<<20) + `"}`)
		if _, err := w.open("s_1").Run(t.Context(), p); code(err) != "too_large" {
			t.Errorf("run: %v", err)
		}
	})
}

func TestOpenWantsALiveLinkAndAFreshSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		open := func(o relay.OpenOptions) string {
			_, err := w.hub.Open(t.Context(), o)
			return code(err)
		}
		whole := relay.OpenOptions{Account: account, Project: project, Session: "s_1"}
		if got := open(whole); got != "not_connected" {
			t.Errorf("without a link: %q", got)
		}
		e := w.pair(honest())
		other := whole
		other.Account = "a_2"
		if got := open(other); got != "not_connected" {
			t.Errorf("another account: %q", got)
		}
		if got := open(whole); got != "" {
			t.Errorf("with a link: %q", got)
		}
		if got := open(whole); got != "bad_request" {
			t.Errorf("a second time: %q", got)
		}
		_ = e.conn.CloseNow()
		synctest.Wait()
		whole.Session = "s_2"
		if got := open(whole); got != "not_connected" {
			t.Errorf("with a lost link: %q", got)
		}
	})
}

func TestCloseWaitsForTheExtension(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		answered := run(t, b, clickIn("t1"))
		e.want("program")
		closed := make(chan error, 1)
		go func() { closed <- b.Close(context.Background()) }()
		f := e.either("end", "cancel")
		if got := <-answered; code(got.err) != "session_ended" {
			t.Errorf("the program under way: %v", got.err)
		}
		if f.head["session"] != "s_1" || !isDone(b) || len(closed) != 0 {
			t.Errorf("header %v, done %v, closed %d", f.head, isDone(b), len(closed))
		}
		e.send(object{"t": "done", "id": f.id()})
		if err := <-closed; err != nil {
			t.Errorf("close: %v", err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Errorf("second close: %v", err)
		}
		if _, err := b.Run(t.Context(), clickIn("t1")); code(err) != "session_ended" {
			t.Errorf("run after close: %v", err)
		}
		w.open("s_1")
	})
}

// either reads two frames, of these kinds in any order, and answers the first kind's.
func (e *extension) either(kind, other string) frame {
	e.t.Helper()
	first, second := e.next(), e.next()
	if first.head["t"] == other {
		first, second = second, first
	}
	if first.head["t"] != kind || second.head["t"] != other {
		e.t.Fatalf("frames %v and %v, want %s and %s", first.head, second.head, kind, other)
	}
	return first
}

func TestCloseGivesUpWithItsContextOrTheLink(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.open("s_1").Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that ended: %v", err)
		}
		b := w.open("s_2")
		closed := make(chan error, 1)
		go func() { closed <- b.Close(context.Background()) }()
		e.want("end")
		e.want("end")
		_ = e.conn.CloseNow()
		if err := <-closed; err != nil {
			t.Errorf("with a link that ended: %v", err)
		}
	})
}

func TestSessionsThatNobodyHasAreEndedWhenTheBrowserComesBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest())
		kept, gone := w.open("s_kept"), w.open("s_gone")
		_ = e.conn.CloseNow()
		synctest.Wait()
		if err := gone.Close(t.Context()); err != nil {
			t.Errorf("close without a link: %v", err)
		}
		again := w.pair(honest().with(tab("t1", "s_kept"), tab("t2", "s_gone"), tab("t3", "s_gone"), tab("t4", "s_older")))
		for _, session := range []string{"s_gone", "s_older"} {
			if f := again.want("end"); f.head["session"] != session || f.id() != nil {
				t.Errorf("ended %v, want %s", f.head, session)
			}
		}
		again.send(object{"t": "ping"})
		again.want("pong")
		if got := kept.Tabs(); len(got) != 1 || got[0].ID != "t1" {
			t.Errorf("tabs %+v", got)
		}
	})
}

func TestACastGivesPicturesUntilItsContextEnds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		pictures := make(chan program.Picture)
		ctx, cancel := context.WithCancel(t.Context())
		options := program.CastOptions{Tab: "t1", MaxWidth: 800, MaxHeight: 600, Quality: 60, FPS: 4}
		ended := cast(ctx, w.open("s_1"), options, func(p program.Picture) { pictures <- p })
		f := e.want("cast")
		if got := f.head["options"].(object); got["tab"] != "t1" || got["fps"] != 4.0 || f.head["session"] != "s_1" {
			t.Errorf("cast %v", f.head)
		}
		for _, text := range []string{"first", "lost", "newest"} {
			e.picture(f, text)
			synctest.Wait()
		}
		want := program.Picture{Tab: "t1", AtMS: 5, Width: 800, Height: 600, JPEG: []byte("first")}
		if got := <-pictures; !reflect.DeepEqual(got, want) {
			t.Errorf("picture %+v, want %+v", got, want)
		}
		if got := <-pictures; string(got.JPEG) != "newest" {
			t.Errorf("after a slow sink: %s", got.JPEG)
		}
		cancel()
		if got := e.want("cancel").id(); got != f.id() {
			t.Errorf("cancelled %v, want %v", got, f.id())
		}
		if err := <-ended; err != nil {
			t.Errorf("cast: %v", err)
		}
	})
}

func cast(ctx context.Context, b *relay.Browser, o program.CastOptions, sink func(program.Picture)) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- b.Cast(ctx, o, sink) }()
	return ended
}

func (e *extension) picture(f frame, text string) {
	e.t.Helper()
	head := object{"t": "picture", "id": f.id(), "at_ms": 5, "width": 800, "height": 600}
	e.send(head, base64.StdEncoding.EncodeToString([]byte(text)))
}

func TestHowACastEnds(t *testing.T) {
	tests := map[string]struct {
		end  func(w *world, e *extension, b *relay.Browser, f frame)
		code string
	}{
		"the extension refuses it": {
			func(_ *world, e *extension, _ *relay.Browser, f frame) {
				e.send(object{"t": "error", "id": f.id(), "code": "tab_suspended", "message": "DevTools"})
			}, "tab_suspended",
		},
		"the extension refuses it, whatever it still sends": {
			func(_ *world, e *extension, _ *relay.Browser, f frame) {
				e.send(object{"t": "error", "id": f.id(), "code": "tab_closed", "message": "t1 was closed"})
				e.picture(f, "late")
			}, "tab_closed",
		},
		"a picture is not base64": {
			func(_ *world, e *extension, _ *relay.Browser, f frame) {
				e.send(object{"t": "picture", "id": f.id()}, "%%%")
			}, "internal",
		},
		"the session ends": {
			func(_ *world, _ *extension, b *relay.Browser, _ frame) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_ = b.Close(ctx)
			}, "",
		},
		"the link does not come back": {
			func(_ *world, e *extension, _ *relay.Browser, _ frame) { _ = e.conn.CloseNow() }, "not_connected",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				b := w.open("s_1")
				ended := cast(t.Context(), b, program.CastOptions{Tab: "t1"}, func(program.Picture) {})
				tt.end(w, e, b, e.want("cast"))
				if err := <-ended; code(err) != tt.code || (tt.code == "") != (err == nil) {
					t.Errorf("cast: %v, want %q", err, tt.code)
				}
			})
		})
	}
}

func TestACastGoesOnWhenTheLinkComesBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		pictures := make(chan program.Picture, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := cast(ctx, w.open("s_1"), program.CastOptions{Tab: "t1"}, func(p program.Picture) { pictures <- p })
		e.want("cast")
		_ = e.conn.CloseNow()
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.picture(again.want("cast"), "again")
		if got := <-pictures; string(got.JPEG) != "again" {
			t.Errorf("picture %s", got.JPEG)
		}
		cancel()
		again.want("cancel")
		if err := <-ended; err != nil {
			t.Errorf("cast: %v", err)
		}
	})
}
