package store_test

import (
	"encoding/json"
	"sync"
	"testing"

	"chaperone/server/store"
)

func TestEventsAreNumberedWithoutAHoleWhoeverWrites(t *testing.T) {
	s := open(t, privateDir(t))
	mine, other := addTenant(t, s, "me"), addTenant(t, s, "other")
	const each = 10
	var writers sync.WaitGroup
	for _, who := range []tenant{mine, other, mine} {
		writers.Go(func() {
			for range each {
				event := store.Event{Account: who.account, Time: noon(), Project: who.project, Session: "s_1", Kind: "browser.action"}
				if _, err := s.AppendEvent(t.Context(), event); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	for who, want := range map[tenant]int{mine: 2 * each, other: each} {
		list, err := s.EventsAfter(t.Context(), store.EventFilter{Account: who.account})
		if err != nil || len(list) != want {
			t.Fatalf("%d events, %v, want %d", len(list), err, want)
		}
		for i, event := range list {
			if event.Seq != int64(i+1) {
				t.Errorf("place %d holds seq %d", i, event.Seq)
			}
		}
	}
}

func TestEventsAfterPicksAndResumes(t *testing.T) {
	s := open(t, privateDir(t))
	who := addTenant(t, s, "me")
	for _, session := range []string{"s_1", "s_2", "s_1", ""} {
		event := store.Event{
			Account: who.account, Time: noon(), Project: who.project, Session: session, Kind: "tab.shared",
			Fields: json.RawMessage(`{"tab":"t1"}`),
		}
		if _, err := s.AppendEvent(t.Context(), event); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		filter store.EventFilter
		want   []int64
	}{
		"everything":            {store.EventFilter{}, []int64{1, 2, 3, 4}},
		"one session":           {store.EventFilter{Session: "s_1"}, []int64{1, 3}},
		"one session, resumed":  {store.EventFilter{Session: "s_1", After: 1}, []int64{3}},
		"a page of the project": {store.EventFilter{Project: who.project, After: 1, Limit: 2}, []int64{2, 3}},
		"another project":       {store.EventFilter{Project: "p_other"}, nil},
		"after the last":        {store.EventFilter{After: 4}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.filter.Account = who.account
			list, err := s.EventsAfter(t.Context(), test.filter)
			if err != nil || len(list) != len(test.want) {
				t.Fatalf("got %v, %v, want %v", list, err, test.want)
			}
			for i, event := range list {
				if event.Seq != test.want[i] || string(event.Fields) != `{"tab":"t1"}` || !event.Time.Equal(noon()) {
					t.Errorf("place %d holds %+v, want seq %d", i, event, test.want[i])
				}
			}
		})
	}
}
