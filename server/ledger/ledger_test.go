package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/store"
)

func TestAnActionBecomesARow(t *testing.T) {
	w := newWorld(t)
	first, second := w.act(t, w.me), w.act(t, w.me)
	if first.Seq != 1 || second.Seq != 2 || second.PrevHash != first.Hash || first.PrevHash != strings.Repeat("0", 64) {
		t.Errorf("the chain is %+v, %+v", first, second)
	}
	rows := w.rows(t, w.me)
	if len(rows) != 2 || rows[0] != second || rows[1] != first {
		t.Errorf("the list is %+v", rows)
	}
	want := second
	want.ActorKind, want.ActorID, want.Run, want.Project, want.Session = "token", "k_1", "r1", "p_1", "s_1"
	want.Kind, want.Direction, want.Peer, want.Method = "browser", "out", "example.com", "click"
	want.Outcome, want.Detail = "done", `{"tab":"t1"}`
	if second != want {
		t.Errorf("the row is %+v, want %+v", second, want)
	}
	w.mustHold(t, w.me, 2)
	w.mustHold(t, w.other, 0)
}

func TestTheSameRequestTwiceHasTwoDigests(t *testing.T) {
	w := newWorld(t)
	first, second := w.act(t, w.me), w.act(t, w.me)
	for name, pair := range map[string][2]string{
		"request": {first.RequestDigest, second.RequestDigest}, "response": {first.ResponseDigest, second.ResponseDigest},
	} {
		if len(pair[0]) != 64 || pair[0] == pair[1] {
			t.Errorf("%s digests are %q", name, pair)
		}
	}
}

func TestWhoKeptTheBytesCanShowThatTheyAreTheOnes(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	row := w.act(t, w.me)
	for name, test := range map[string]struct {
		match   func(context.Context, ledger.Row, []byte) (bool, error)
		content []byte
		want    bool
	}{
		"the request":             {w.ledger.MatchesRequest, click(w.me).Request, true},
		"the response":            {w.ledger.MatchesResponse, []byte("page text"), true},
		"the other way round":     {w.ledger.MatchesRequest, []byte("page text"), false},
		"a request with one more": {w.ledger.MatchesRequest, append(click(w.me).Request, ' '), false},
		"an empty response":       {w.ledger.MatchesResponse, []byte{}, false},
		"no request at all":       {w.ledger.MatchesRequest, nil, false},
	} {
		if got, err := test.match(t.Context(), row, test.content); err != nil || got != test.want {
			t.Errorf("%s matches: %v, %v", name, got, err)
		}
	}
}

func TestErasedSaltsAreGoneAndTheChainHolds(t *testing.T) {
	w := newWorld(t)
	row, last := w.act(t, w.me), w.act(t, w.me)
	salts, err := w.store.GetSalts(t.Context(), w.me, row.Seq)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.ledger.EraseSalts(t.Context(), w.me, row.Seq); n != 1 || err != nil {
		t.Fatalf("erase answers %d, %v", n, err)
	}
	w.mustNotHold(t, salts.Request, salts.Response)
	if _, err := w.ledger.MatchesRequest(t.Context(), row, click(w.me).Request); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the erased salts answer %v", err)
	}
	if ok, err := w.ledger.MatchesRequest(t.Context(), last, click(w.me).Request); err != nil || !ok {
		t.Errorf("the salts after them answer %v, %v", ok, err)
	}
	w.mustHold(t, w.me, 2)
}

func TestNothingOfRequestOrResponseIsInAnyFile(t *testing.T) {
	w := newWorld(t)
	w.act(t, w.me)
	if _, err := w.ledger.Begin(t.Context(), click(w.me)); err != nil {
		t.Fatal(err)
	}
	w.mustNotHold(t, "very-private", "page text")
}

// mustNotHold checks that none of these texts is in any file of the data folder.
func (w *world) mustNotHold(t *testing.T, texts ...string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(w.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(w.dir, name))
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s holds %q", name, text)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWordsThatCouldCarryTextAreRefusedBefore(t *testing.T) {
	w := newWorld(t)
	for name, spoil := range map[string]func(*ledger.Entry){
		"a peer with a path":             func(e *ledger.Entry) { e.Peer = "example.com/secret" },
		"a peer with a query":            func(e *ledger.Entry) { e.Peer = "example.com?q=1" },
		"a peer with a password":         func(e *ledger.Entry) { e.Peer = "me:pw@example.com" },
		"a method with a space":          func(e *ledger.Entry) { e.Method = "click here" },
		"no method":                      func(e *ledger.Entry) { e.Method = "" },
		"no account":                     func(e *ledger.Entry) { e.Account = "" },
		"no kind":                        func(e *ledger.Entry) { e.Kind = "" },
		"a run with a line":              func(e *ledger.Entry) { e.Run = "r1\nr2" },
		"a detail with a sentence":       func(e *ledger.Entry) { e.Detail = map[string]string{"title": "My bank account"} },
		"a detail with a query":          func(e *ledger.Entry) { e.Detail = map[string]string{"url": "a?b=c"} },
		"a detail of 81 characters":      func(e *ledger.Entry) { e.Detail = map[string]string{"x": strings.Repeat("x", 81)} },
		"a detail key with a quote":      func(e *ledger.Entry) { e.Detail = map[string]string{`a"b`: "c"} },
		"letters that look like letters": func(e *ledger.Entry) { e.Peer = "exаmple.com" },
	} {
		t.Run(name, func(t *testing.T) {
			entry := click(w.me)
			spoil(&entry)
			if _, err := w.ledger.Begin(t.Context(), entry); !fault.Is(err, fault.BadRequest) {
				t.Errorf("begin answers %v", err)
			}
		})
	}
	for name, alter := range map[string]func(*ledger.Entry){
		"a host with a port":        func(e *ledger.Entry) { e.Peer = "[2001:db8::1]:443" },
		"a scoped address":          func(e *ledger.Entry) { e.Peer = "[fe80::1%eth0]:443" },
		"a CDP method":              func(e *ledger.Entry) { e.Method = "Input.dispatchMouseEvent" },
		"a detail of 80 characters": func(e *ledger.Entry) { e.Detail = map[string]string{"x": strings.Repeat("x", 80)} },
		"nothing but the needed":    func(e *ledger.Entry) { *e = ledger.Entry{Account: w.me, Actor: e.Actor, Kind: e.Kind, Method: "x"} },
	} {
		t.Run(name, func(t *testing.T) {
			entry := click(w.me)
			alter(&entry)
			if _, err := w.ledger.Begin(t.Context(), entry); err != nil {
				t.Errorf("begin answers %v", err)
			}
		})
	}
}

func TestWordsThatCouldCarryTextAreWithheldAfter(t *testing.T) {
	w := newWorld(t)
	pending, err := w.ledger.Begin(t.Context(), click(w.me))
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.ledger.Finish(t.Context(), pending, ledger.Outcome{
		Outcome: "it said: My bank", Detail: map[string]string{"title": "My bank account"},
	})
	if err != nil || row.Outcome != "withheld" || row.Detail != `{"detail":"withheld","tab":"t1"}` {
		t.Errorf("finish answers %+v, %v", row, err)
	}
	w.mustHold(t, w.me, 1)
}

func TestFinishIsOnceAndOutlivesItsCaller(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	pending, err := w.ledger.Begin(ctx, click(w.me))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.ledger.Begin(ctx, click(w.me)); !errors.Is(err, context.Canceled) {
		t.Errorf("begin after the caller went away answers %v", err)
	}
	if _, err := w.ledger.Finish(ctx, pending, ledger.Outcome{Outcome: ledger.Done}); err != nil {
		t.Errorf("finish after the caller went away answers %v", err)
	}
	if _, err := w.ledger.Finish(t.Context(), pending, ledger.Outcome{Outcome: ledger.Done}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a second finish answers %v", err)
	}
	w.mustHold(t, w.me, 1)
}

func TestManyAtOnceMakeOneChain(t *testing.T) {
	w := newWorld(t)
	const actors, each = 8, 6
	var running sync.WaitGroup
	for i := range actors {
		account := []string{w.me, w.other}[i%2]
		running.Go(func() {
			for range each {
				w.act(t, account)
			}
		})
	}
	running.Wait()
	w.mustHold(t, w.me, actors/2*each)
	w.mustHold(t, w.other, actors/2*each)
}

func TestTwoServersOnOneFileMakeOneChain(t *testing.T) {
	first := newWorld(t)
	second := first
	second.open(t)
	var running sync.WaitGroup
	for _, w := range []*world{&first, &second} {
		running.Go(func() {
			for range 20 {
				if _, err := w.ledger.Append(t.Context(), click(w.me), ledger.Outcome{Outcome: ledger.Done}); err != nil {
					t.Error(err)
				}
				w.act(t, w.me)
			}
		})
	}
	running.Wait()
	first.mustHold(t, first.me, 80)
}

func TestAroundRecordsWhatCameOfIt(t *testing.T) {
	w := newWorld(t)
	refused := fault.New(fault.Forbidden, "no", "")
	for name, test := range map[string]struct {
		result error
		want   string
	}{
		"it worked":                  {nil, "done"},
		"a fault is its code":        {refused, "forbidden"},
		"any other error is ours":    {errors.New("disk on fire"), "internal"},
		"a wrapped fault keeps code": {errors.Join(errors.New("x"), refused), "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			err := w.ledger.Around(t.Context(), click(w.me), func(context.Context) error { return test.result })
			if !errors.Is(err, test.result) {
				t.Errorf("around answers %v, want %v", err, test.result)
			}
			if got := w.rows(t, w.me)[0].Outcome; got != test.want {
				t.Errorf("outcome is %q, want %q", got, test.want)
			}
		})
	}
}

func TestAroundDoesNothingThatItCannotJournal(t *testing.T) {
	w := newWorld(t)
	entry := click("u_nobody")
	err := w.ledger.Around(t.Context(), entry, func(context.Context) error {
		t.Error("it ran")
		return nil
	})
	if err == nil {
		t.Error("around answers no error")
	}
}

func TestAClockThatIsSetBackKeepsTheOrder(t *testing.T) {
	w := newWorld(t)
	now := noon()
	w.ledger = ledger.New(w.store, func() time.Time { return now })
	first := w.act(t, w.me)
	now = noon().Add(-time.Hour)
	if second := w.act(t, w.me); !second.Time.Equal(first.Time) {
		t.Errorf("the second row is at %v, the first at %v", second.Time, first.Time)
	}
	w.mustHold(t, w.me, 2)
}

func TestListPicksAndPages(t *testing.T) {
	w := newWorld(t)
	now := noon()
	w.ledger = ledger.New(w.store, func() time.Time { return now })
	for i, peer := range []string{"a.example", "b.example", "a.example", "b.example"} {
		now = noon().Add(time.Duration(i) * time.Minute)
		entry := click(w.me)
		entry.Peer = peer
		if _, err := w.ledger.Append(t.Context(), entry, ledger.Outcome{Outcome: ledger.Done}); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		filter ledger.Filter
		want   []int64
	}{
		"everything":      {ledger.Filter{}, []int64{4, 3, 2, 1}},
		"a page":          {ledger.Filter{Limit: 2}, []int64{4, 3}},
		"the next page":   {ledger.Filter{Limit: 2, Before: 3}, []int64{2, 1}},
		"one peer":        {ledger.Filter{Peer: "a.example"}, []int64{3, 1}},
		"since and until": {ledger.Filter{Since: noon().Add(time.Minute), Until: noon().Add(3 * time.Minute)}, []int64{3, 2}},
		"another kind":    {ledger.Filter{Kind: "access"}, nil},
		"another session": {ledger.Filter{Session: "s_2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.filter.Account = w.me
			rows, err := w.ledger.List(t.Context(), test.filter)
			if err != nil || len(rows) != len(test.want) {
				t.Fatalf("got %v, %v, want %v", rows, err, test.want)
			}
			for i, row := range rows {
				if row.Seq != test.want[i] {
					t.Errorf("place %d holds %d, want %d", i, row.Seq, test.want[i])
				}
			}
		})
	}
}
