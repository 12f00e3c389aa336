package store_test

import (
	"errors"
	"testing"
	"time"

	"chaperone/server/store"
)

func addSession(t *testing.T, s *store.Store, who tenant, at time.Time) store.Session {
	t.Helper()
	id, err := store.NewID("s", at)
	if err != nil {
		t.Fatal(err)
	}
	session := store.Session{
		ID: id, Account: who.account, Project: who.project, Backend: "managed", Policy: "read_only", Label: "docs", Run: "r1",
		State: "active", Created: at, ActorKind: "token", ActorID: "k_1", Confinement: "kernel: no network of its own",
	}
	if err := s.SaveSession(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	return session
}

func TestASessionComesBackAsItWasSaved(t *testing.T) {
	s := open(t, privateDir(t))
	who := addTenant(t, s, "me")
	want := addSession(t, s, who, noon())
	got, err := s.GetSession(t.Context(), who.account, want.ID)
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	want.State, want.Ended, want.Reason, want.Actions, want.Commands = "ended", noon().Add(time.Minute), "closed", 7, 400
	change := store.SessionChange{State: want.State, Ended: want.Ended, Reason: want.Reason, Actions: want.Actions, Commands: want.Commands}
	if err := s.UpdateSession(t.Context(), who.account, want.ID, change); err != nil {
		t.Fatal(err)
	}
	if got, err = s.GetSession(t.Context(), who.account, want.ID); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestAnotherAccountHasNoSuchSession(t *testing.T) {
	s := open(t, privateDir(t))
	mine, other := addTenant(t, s, "me"), addTenant(t, s, "other")
	session := addSession(t, s, mine, noon())
	if _, err := s.GetSession(t.Context(), other.account, session.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("get answers %v", err)
	}
	err := s.UpdateSession(t.Context(), other.account, session.ID, store.SessionChange{State: "ended"})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("update answers %v", err)
	}
	if list, err := s.ListSessions(t.Context(), store.SessionFilter{Account: other.account}); err != nil || len(list) != 0 {
		t.Errorf("list answers %v, %v", list, err)
	}
}

func TestSessionsPageFromTheNewest(t *testing.T) {
	s := open(t, privateDir(t))
	who := addTenant(t, s, "me")
	var ids [5]string
	for i := range ids {
		ids[i] = addSession(t, s, who, noon().Add(time.Duration(i)*time.Second)).ID
	}
	filter := store.SessionFilter{Account: who.account, Project: who.project, Limit: 2}
	for _, want := range [][]string{{ids[4], ids[3]}, {ids[2], ids[1]}, {ids[0]}} {
		page, err := s.ListSessions(t.Context(), filter)
		if err != nil || len(page) != len(want) {
			t.Fatalf("page is %v, %v", page, err)
		}
		for i := range want {
			if page[i].ID != want[i] {
				t.Errorf("place %d holds %s, want %s", i, page[i].ID, want[i])
			}
		}
		filter.Before = page[len(page)-1].ID
	}
}

func TestOnlyUnfinishedSessionsFailAtStart(t *testing.T) {
	s := open(t, privateDir(t))
	mine, other := addTenant(t, s, "me"), addTenant(t, s, "other")
	ended := addSession(t, s, mine, noon())
	change := store.SessionChange{State: "ended", Ended: noon(), Reason: "closed"}
	if err := s.UpdateSession(t.Context(), mine.account, ended.ID, change); err != nil {
		t.Fatal(err)
	}
	alive := map[string]bool{addSession(t, s, mine, noon()).ID: true, addSession(t, s, other, noon()).ID: true}
	failed, err := s.FailUnfinishedSessionsAnyAccount(t.Context(), noon().Add(time.Hour), "server_stopped")
	if err != nil || len(failed) != 2 {
		t.Fatalf("failed are %v, %v", failed, err)
	}
	for _, session := range failed {
		if !alive[session.ID] || session.State != "failed" || session.Reason != "server_stopped" || session.Ended.IsZero() {
			t.Errorf("failed as %+v", session)
		}
	}
	if again, err := s.FailUnfinishedSessionsAnyAccount(t.Context(), noon(), "x"); err != nil || len(again) != 0 {
		t.Errorf("a second time fails %v, %v", again, err)
	}
}
