package relay_test

import (
	"context"
	"encoding/base64"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/relay"
	"chaperone/relay/program"
)

func TestACastGivesPicturesUntilItsContextEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		pictures := make(chan program.Picture)
		ctx, cancel := context.WithCancel(w.t.Context())
		options := program.CastOptions{Tab: "t1", MaxWidth: 800, MaxHeight: 600, Quality: 60, FPS: 4}
		ended := cast(ctx, w.open("s_1"), options, func(p program.Picture) { pictures <- p })
		f := e.want("cast")
		want := object{"tab": "t1", "max_width": 800.0, "max_height": 600.0, "quality": 60.0, "fps": 4.0}
		if !reflect.DeepEqual(f.head["options"], want) || f.head["session"] != "s_1" {
			w.t.Errorf("cast %v", f.head)
		}
		for _, text := range []string{"first", "lost", "newest"} {
			e.picture(f, text)
			synctest.Wait()
		}
		first := program.Picture{Tab: "t1", AtMS: 5, Width: 800, Height: 600, JPEG: []byte("first")}
		if got := <-pictures; !reflect.DeepEqual(got, first) {
			w.t.Errorf("picture %+v, want %+v", got, first)
		}
		if got := <-pictures; string(got.JPEG) != "newest" {
			w.t.Errorf("after a slow sink: %s", got.JPEG)
		}
		cancel()
		if got := e.want("cancel").id(); got != f.id() {
			w.t.Errorf("cancelled %v, want %v", got, f.id())
		}
		if err := <-ended; err != nil {
			w.t.Errorf("cast: %v", err)
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
			inWorld(t, func(w *world) {
				e := w.pair(honest().with(tab("t1", "")))
				b := w.open("s_1")
				ended := cast(w.t.Context(), b, program.CastOptions{Tab: "t1"}, func(program.Picture) {})
				tt.end(w, e, b, e.want("cast"))
				if err := <-ended; code(err) != tt.code || (tt.code == "") != (err == nil) {
					w.t.Errorf("cast: %v, want %q", err, tt.code)
				}
			})
		})
	}
}

func TestARefusalJustBeforeTheLinkEndsIsHeard(t *testing.T) {
	for range 8 { // both are there when the slow sink returns, and a select would take either
		inWorld(t, func(w *world) {
			e := w.pair(honest().with(tab("t1", "")))
			busy := make(chan struct{})
			ended := cast(w.t.Context(), w.open("s_1"), program.CastOptions{Tab: "t1"}, func(program.Picture) { <-busy })
			f := e.want("cast")
			e.picture(f, "first")
			synctest.Wait()
			e.send(object{"t": "error", "id": f.id(), "code": "tab_closed", "message": "t1 was closed"})
			_ = e.conn.CloseNow()
			synctest.Wait()
			close(busy)
			if err := <-ended; code(err) != "tab_closed" {
				w.t.Errorf("cast: %v", err)
			}
		})
	}
}

func TestACastGoesOnWhenTheLinkComesBack(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		pictures := make(chan program.Picture, 1)
		ctx, cancel := context.WithCancel(w.t.Context())
		ended := cast(ctx, w.open("s_1"), program.CastOptions{Tab: "t1"}, func(p program.Picture) { pictures <- p })
		e.want("cast")
		_ = e.conn.CloseNow()
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.picture(again.want("cast"), "again")
		if got := <-pictures; string(got.JPEG) != "again" {
			w.t.Errorf("picture %s", got.JPEG)
		}
		cancel()
		again.want("cancel")
		if err := <-ended; err != nil {
			w.t.Errorf("cast: %v", err)
		}
	})
}
