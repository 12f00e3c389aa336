package live_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"chaperone/relay/program"
	"chaperone/server/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// camera is a source that gives one numbered picture every interval.
type camera struct {
	every  time.Duration
	casts  atomic.Int32
	active atomic.Int32
}

func (c *camera) Cast(ctx context.Context, _ program.CastOptions, sink func(program.Picture)) error {
	c.casts.Add(1)
	c.active.Add(1)
	defer c.active.Add(-1)
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for n := int64(1); ; n++ {
		sink(program.Picture{AtMS: n})
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func TestOneCastServesEveryViewerAndStopsAfterTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, cam := live.NewHub(program.CastOptions{}), &camera{every: 100 * time.Millisecond}
		defer hub.Close()
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go func() {
				_ = hub.Watch(ctx, "s", cam, live.Viewer{Sink: func(program.Picture) error { return nil }})
			}()
		}
		<-time.After(time.Second)
		synctest.Wait()
		if cam.casts.Load() != 1 {
			t.Errorf("three viewers started %d casts, want 1", cam.casts.Load())
		}
		cancel()
		<-time.After(live.Linger - time.Millisecond)
		synctest.Wait()
		if cam.active.Load() != 1 {
			t.Error("the cast stopped before the linger was over")
		}
		<-time.After(2 * time.Millisecond)
		synctest.Wait()
		if cam.active.Load() != 0 {
			t.Error("the cast goes on though nobody watches")
		}
	})
}

func TestAViewerGetsItsRateAndTheNewestPicture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, cam := live.NewHub(program.CastOptions{}), &camera{every: 10 * time.Millisecond}
		defer hub.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 995*time.Millisecond)
		defer cancel()
		var got []int64
		err := hub.Watch(ctx, "s", cam, live.Viewer{FPS: 4, Sink: func(p program.Picture) error {
			got = append(got, p.AtMS)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 4 || got[0] != 1 || got[3] < 70 {
			t.Errorf("at 4 a second of 100 a second got pictures %v, want 4 of them, the last one recent", got)
		}
	})
}

func TestAViewersErrorEndsOnlyThatViewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, cam := live.NewHub(program.CastOptions{}), &camera{every: 10 * time.Millisecond}
		defer hub.Close()
		gone := errors.New("gone")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		other := errors.New("never returned")
		done := make(chan struct{})
		go func() {
			defer close(done)
			other = hub.Watch(ctx, "s", cam, live.Viewer{Sink: func(program.Picture) error { return nil }})
		}()
		err := hub.Watch(ctx, "s", cam, live.Viewer{Sink: func(program.Picture) error { return gone }})
		if !errors.Is(err, gone) {
			t.Errorf("got %v, want the sink's error", err)
		}
		<-done
		if other != nil {
			t.Errorf("the other viewer ended with %v", other)
		}
	})
}
