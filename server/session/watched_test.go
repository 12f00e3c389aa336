package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/browse"
	"chaperone/server/session"
)

// watch follows the session's live picture until the test ends.
func (r *room) watch(t *testing.T, id string) {
	t.Helper()
	screen, err := r.Screen(t.Context(), r.actor, id)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = screen.Cast(ctx, program.CastOptions{}, func(program.Picture) {}) // it ends with ctx
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func (b *browser) mustCast(t *testing.T, tab string) {
	t.Helper()
	select {
	case got := <-b.casts:
		if got != tab {
			t.Errorf("%s is shown, want %s", got, tab)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("%s is not shown", tab)
	}
}

// in is one command of a client in a tab.
func in(tab string) endpoint.Command {
	c := say(1, "https://a.example/", "Runtime.evaluate", `{}`)
	c.Tab = tab
	return c
}

func (d *door) give(t *testing.T, commands ...endpoint.Command) {
	t.Helper()
	for _, c := range commands {
		if err := d.Recorder.Record(c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheLivePictureFollowsClients(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	b, door := r.backend.newest(), r.endpoint.newest()
	b.tabs = []program.Tab{{ID: "t1", URL: "https://a.example/", Level: program.LevelAct}}
	r.watch(t, v.ID)
	door.give(t, refused(in("t9")), in(""), in("t1"))
	b.mustCast(t, "t1")
	// Too early to follow; no command comes after them.
	door.give(t, in("t2"), in("t3"))
	b.mustCast(t, "t3")
	// An action is followed at once, and what clients did before it is no reason to leave.
	door.give(t, in("t4"))
	if _, err := r.Do(t.Context(), r.actor, v.ID, browse.Action{Action: "select_tab", Tab: "t1"}); err != nil {
		t.Fatal(err)
	}
	b.mustCast(t, "t1")
	door.give(t, in("t1"))
	select {
	case tab := <-b.casts:
		t.Errorf("%s is shown besides", tab)
	case <-time.After(3 * time.Second):
	}
}

func TestClientsCommandsAreCounted(t *testing.T) {
	r := open(t, session.Limits{})
	v := r.interactive(t, session.Spec{})
	r.expose(t, v.ID)
	r.endpoint.newest().give(t, in("t1"), in("t1"), refused(in("t1")))
	if now, err := r.Get(t.Context(), r.actor, v.ID); err != nil || now.Commands != 3 || now.Actions != 0 {
		t.Errorf("while it lives: %+v, %v", now, err)
	}
	if over, err := r.Close(t.Context(), r.actor, v.ID); err != nil || over.Commands != 3 {
		t.Errorf("when it is over: %+v, %v", over, err)
	}
}

func TestAnEndpointTellsWhichTabsItsClientsDoNotSee(t *testing.T) {
	act := program.Tab{ID: "t1", Level: program.LevelAct}
	read := program.Tab{ID: "t2", Level: program.LevelRead}
	paused := program.Tab{ID: "t3", Level: program.LevelAct, Suspended: "DevTools is open."}
	for sentence, c := range map[string]struct {
		tabs []program.Tab
		want string
	}{
		"a tab at act needs no word": {[]program.Tab{act}, ""},
		"no tab":                     {nil, "CDP clients see no tab yet: they open their own"},
		"only a tab at read":         {[]program.Tab{read}, "1 tab is shared to Read, which CDP clients do not see: share it to Act in the extension's popup|CDP clients see no tab yet: they open their own"},
		"some at read":               {[]program.Tab{act, read, read}, "2 tabs are shared to Read, which CDP clients do not see: share them to Act in the extension's popup"},
		"one is paused":              {[]program.Tab{act, paused}, "1 tab is paused and cannot be used now: DevTools is open"},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := open(t, session.Limits{})
			v := r.interactive(t, session.Spec{})
			r.backend.newest().tabs = c.tabs
			if got := strings.Join(r.expose(t, v.ID).Notices, "|"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := strings.Join(r.expose(t, v.ID).Notices, "|"); got != c.want {
				t.Errorf("asked again: %s", got)
			}
		})
	}
}

func TestAnEndpointTellsWhichSessionHasTheTabs(t *testing.T) {
	r := open(t, session.Limits{})
	first := r.interactive(t, session.Spec{Backend: "shared"})
	r.backend.newest().tabs = []program.Tab{{ID: "t1", Level: program.LevelAct, Session: first.ID}}
	second := r.interactive(t, session.Spec{Backend: "shared"})
	notices := strings.Join(r.expose(t, second.ID).Notices, "|")
	want := "1 tab is in use by session " + first.ID + ": chaperone session close " + first.ID + " frees it"
	if !strings.Contains(notices, want) {
		t.Errorf("got  %s\nwant %s", notices, want)
	}
	if own := strings.Join(r.expose(t, first.ID).Notices, "|"); own != "" {
		t.Errorf("the session that has it is told %s", own)
	}
}
