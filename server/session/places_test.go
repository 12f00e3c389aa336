package session_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"chaperone/server/fault"
	"chaperone/server/session"
)

// line is who waits for places, in the order in which they get them.
type line struct {
	t      *testing.T
	places session.Places
	got    chan string
}

func (l *line) join(account, project string) {
	l.t.Helper()
	go func() {
		if l.places.Take(l.t.Context(), account, project) == nil {
			l.got <- account + " " + project
		}
	}()
	synctest.Wait()
}

func (l *line) served(n int) []string {
	all := make([]string, 0, n)
	for range n {
		all = append(all, <-l.got)
	}
	return all
}

func TestAPlaceGoesToTheAccountThatHasTheFewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, places: session.NewPlaces(3, 3, time.Minute), got: make(chan string, 16)}
		for range 3 {
			l.join("greedy", "a")
		}
		l.join("greedy", "a")
		l.join("greedy", "b")
		l.join("modest", "c")
		l.join("late", "d")
		l.served(3)
		for range 3 {
			l.places.Give("greedy", "a")
			synctest.Wait()
		}
		if got, want := l.served(3), []string{"modest c", "late d", "greedy a"}; !slices.Equal(got, want) {
			t.Errorf("served %v, want %v", got, want)
		}
		l.places.Give("modest", "c")
		if got := l.served(1); got[0] != "greedy b" {
			t.Errorf("served %v", got)
		}
	})
}

func TestOneWhoWaitsForAFullProjectHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &line{t: t, places: session.NewPlaces(3, 1, time.Minute), got: make(chan string, 16)}
		l.join("me", "a")
		l.join("me", "a")
		l.join("me", "b")
		if got, want := l.served(2), []string{"me a", "me b"}; !slices.Equal(got, want) {
			t.Errorf("served %v, want %v", got, want)
		}
		l.places.Give("me", "a")
		if got := l.served(1); got[0] != "me a" {
			t.Errorf("served %v", got)
		}
	})
}

func TestWhoeverGetsNoPlaceIsToldHowLongItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := session.NewPlaces(1, 1, 30*time.Second)
		if err := places.Take(t.Context(), "me", "a"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := places.Take(t.Context(), "me", "a")
		if !fault.Is(err, fault.Busy) || !strings.Contains(err.Error(), "waited 30s") || time.Since(began) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := places.Take(ctx, "me", "a"); err != context.DeadlineExceeded { //nolint:errorlint // it is the context's own
			t.Errorf("who gave up is told %v", err)
		}
		if n := places.Waiting(); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

func TestAProfileHasOnePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		places := session.NewPlaces(4, 2, 30*time.Second)
		take := func() error { return places.TakeProfile(t.Context(), "me", "a") }
		if err := take(); err != nil {
			t.Fatal(err)
		}
		if err := places.Take(t.Context(), "me", "a"); err != nil {
			t.Errorf("a session of the project that is not on the profile gets %v", err)
		}
		places.Give("me", "a")
		if err := places.TakeProfile(t.Context(), "me", "b"); err != nil {
			t.Errorf("another project's profile gets %v", err)
		}
		began := time.Now()
		err := take()
		if !fault.Is(err, fault.Busy) || !strings.Contains(err.Error(), "profile is in use by another session") || time.Since(began) != 30*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		got := make(chan error, 1)
		go func() { got <- take() }()
		synctest.Wait()
		places.GiveProfile("me", "a")
		if err := <-got; err != nil {
			t.Errorf("who waited gets %v", err)
		}
	})
}
