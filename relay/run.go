package relay

import (
	"context"
	"encoding/json"
	"errors"

	"chaperone/relay/program"
)

// Run sends a program and waits for its result; bound it by ctx, which also cancels it at the edge. A
// step that failed is in Result.Error, with a nil error. The error is ctx's, or a *program.Error when there
// is no result: not_connected when no link came back in time or when it broke under way (the program may
// have been done, and is never sent again), busy when 64 are under way or the link does not keep up,
// too_large over 2 MiB, forbidden for what no grant of this project permits, session_ended after Close,
// and what the extension refuses.
func (b *Browser) Run(ctx context.Context, p program.Program) (program.Result, error) {
	l, err := b.link(ctx)
	if err != nil {
		return program.Result{}, err
	}
	if refused := b.permit(l, p); refused != nil {
		return program.Result{}, refused
	}
	c, err := l.begin(outward{T: kindProgram, Session: b.session}, p, kindResult)
	if err != nil {
		return program.Result{}, err
	}
	defer l.calls.finish(c)
	a, err := l.await(ctx, c, b)
	if err != nil {
		l.cancel(c, a)
		return program.Result{}, outcome(err)
	}
	return readResult(a.body)
}

// outcome turns a broken link into what the caller is told.
func outcome(err error) error {
	if errors.Is(err, errBroke) {
		return errLinkDied()
	}
	return err
}

// cancel tells the extension that nobody waits any more, unless it has answered or is gone.
func (l *link) cancel(c *call, got answer) {
	if got.head.T == "" && !l.dead() {
		l.tell(outward{T: kindCancel, ID: c.id})
	}
}

func readResult(body []byte) (program.Result, error) {
	var result program.Result
	if err := json.Unmarshal(body, &result); err != nil {
		return program.Result{}, errUnreadable()
	}
	return result, nil
}

// permit refuses early what the extension would refuse: another session's tab, and what the method table
// does not have at the lower of the tab's level and the ceiling.
func (b *Browser) permit(l *link, p program.Program) error {
	level, err := b.level(l, p.Tab)
	if err != nil {
		return err
	}
	if b.hub.table == nil {
		return refuse(codeForbidden, "no method is permitted: the relay has no method table")
	}
	if refused := program.Check(p, level, b.hub.table); refused != nil {
		return refused
	}
	return nil
}

// level is what the session may do in a tab. One that is not known yet is held to the ceiling alone and is
// the extension's to judge: its list may come after the answer that named the tab.
func (b *Browser) level(l *link, tab string) (program.Level, error) {
	b.hub.slotsMu.Lock()
	defer b.hub.slotsMu.Unlock()
	s := b.slot()
	if s == nil {
		return "", b.why
	}
	for _, t := range s.tabs {
		if t.ID != tab {
			continue
		}
		if t.Session != "" && t.Session != b.session {
			return "", errForeign()
		}
		return lower(l.level, t.Level), nil
	}
	return l.level, nil
}

// lower holds a grant's level to the ceiling; a ceiling that is no level permits nothing.
func lower(ceiling, grant program.Level) program.Level {
	if ceiling == program.LevelAct {
		return grant
	}
	return ceiling
}
