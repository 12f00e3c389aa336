package program

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	// requestGrace is how long a navigation that the page asked for may take to begin; some never do.
	requestGrace = time.Second
	// maxFollowed bounds how many documents, and answers, one settle follows within its time.
	maxFollowed = 16
	// loadPatience is how long a document that can be read already is waited for: pictures come later.
	loadPatience = 2 * time.Second
	// answerPatience is how long all requests that a program began may take to be answered.
	answerPatience = 3 * time.Second
)

// settle follows the main frame's navigation and waits for a quiet document, again when another navigation began
// meanwhile or an answer came. Only the program's own time running out, or a tab that cannot be reached, is an error.
func (e *Executor) settle(ctx context.Context, s Settle) (json.RawMessage, error) {
	bounded, cancel := context.WithTimeout(ctx, milliseconds(s.MaxMS))
	defer cancel()
	quiet, err := e.settleWithin(bounded, s)
	if bounded.Err() == nil && err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.Begun {
		e.stopHearing(ctx)
	}
	return encode(e.settled(s, quiet))
}

// settleWithin reports whether the page was quiet at last. Its error is the context's, or that the tab cannot be reached.
func (e *Executor) settleWithin(ctx context.Context, s Settle) (bool, error) {
	patient, stop := context.WithTimeout(ctx, answerPatience)
	defer stop()
	moves, left := 0, 0
	for range maxFollowed {
		if err := e.follow(ctx, s.Begun, &left); err != nil {
			return false, err
		}
		before := e.view.navigation()
		quiet, err := e.quiet(ctx, s, before.moves > moves)
		moves = before.moves
		if _, isRefused := errors.AsType[*CallError](err); err != nil && !isRefused {
			return false, err
		}
		nav := e.view.navigation()
		if err != nil || nav.commits != before.commits || nav.isUnderWay(s.Begun) {
			continue
		}
		if !s.Begun || !e.answered(patient) {
			return quiet, nil
		}
	}
	return false, nil
}

func (e *Executor) settled(s Settle, quiet bool) Settled {
	nav, open := e.view.navigation(), e.view.underWay()
	told := Settled{Navigated: nav.commits > 0, Quiet: quiet}
	if s.Begun {
		told.Waiting = new(nav.phase == phaseStarted)
		told.Loading = nav.phase > phaseRequested
		told.UnderWay = open
		told.Quiet = quiet && open == 0 && !told.Loading
		told.Moved = nav.moves > 0
		told.Answer = e.view.answer()
	}
	return told
}

// follow waits until no navigation of the main frame is under way. With readable set, a document that is all there but
// for its pictures is waited for no longer than loadPatience; left is the number of the last that was left loading.
func (e *Executor) follow(ctx context.Context, readable bool, left *int) error {
	for {
		err := e.view.until(ctx, func() bool { return e.view.nav.phase <= phaseRequested || readable && e.view.nav.isReadable() })
		nav := e.view.navigation()
		if err != nil || nav.phase == phaseNone {
			return err
		}
		if nav.phase == phaseRequested {
			e.followRequest(ctx)
			continue
		}
		if *left == nav.commits || !e.isThere(ctx, loadPatience, func() bool { return !e.view.nav.isReadable() }) {
			*left = nav.commits
			return ctx.Err()
		}
	}
}

func (e *Executor) followRequest(ctx context.Context) {
	if !e.isThere(ctx, requestGrace, func() bool { return e.view.nav.phase != phaseRequested }) {
		e.view.update(e.view.nav.stay)
	}
}

// isThere reports whether something came about within some time.
func (e *Executor) isThere(ctx context.Context, patience time.Duration, holds func() bool) bool {
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return e.view.until(patient, holds) == nil
}

// answered waits for the answers to requests that the program began. It reports whether any came, or a navigation: the
// page may be another one by that.
func (e *Executor) answered(ctx context.Context) bool {
	waits := false
	e.view.update(func() { e.view.requests.counts, waits = false, len(e.view.requests.open) > 0 })
	if !waits {
		return false
	}
	return e.view.until(ctx, func() bool { return len(e.view.requests.open) == 0 || e.view.nav.isUnderWay(true) }) == nil
}

// quiet asks the frame that the program acted in, and then the page. One that fails to say is not quiet; a page that goes
// away refuses, with a *CallError.
func (e *Executor) quiet(ctx context.Context, s Settle, moved bool) (bool, error) {
	inner := true
	if s.Begun && e.acted.frame != "" {
		told, err := e.quietIn(ctx, e.acted, s, moved)
		if _, isRefused := errors.AsType[*CallError](err); err != nil && !isRefused {
			return false, err
		}
		inner = told || err != nil // a frame that is gone is quiet
	}
	outer, err := e.quietIn(ctx, e.main(), s, moved)
	return inner && outer, err
}

func (e *Executor) quietIn(ctx context.Context, in place, s Settle, moved bool) (bool, error) {
	deadline, _ := ctx.Deadline()
	fields := map[string]any{"quiet_ms": s.QuietMS, "max_ms": max(1, time.Until(deadline).Milliseconds())}
	if s.Begun {
		fields["begun"], fields["moved"] = true, moved
	}
	args, err := encode(fields)
	if err != nil {
		return false, err
	}
	answer, err := e.askQuiet(ctx, in, args)
	if _, isFailure := errors.AsType[*Error](err); isFailure {
		return false, nil
	}
	if err != nil {
		e.view.dropWorld(in.frame)
		return false, err
	}
	var value struct {
		Quiet bool `json:"quiet"`
	}
	return json.Unmarshal(answer, &value) == nil && value.Quiet, nil
}

func (e *Executor) askQuiet(ctx context.Context, in place, args json.RawMessage) (json.RawMessage, error) {
	w, err := e.world(ctx, in)
	if err != nil {
		return nil, err
	}
	return e.invoke(ctx, w, functionQuiet, map[string]any{"value": args})
}
