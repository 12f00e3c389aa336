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
	// maxFollowed bounds how many documents one settle follows within its time.
	maxFollowed = 16
)

// settle follows the main frame's navigation and waits for a quiet document, again when another navigation began
// meanwhile. Only the program's own time running out, or a tab that cannot be reached, is an error.
func (e *Executor) settle(ctx context.Context, s Settle) (json.RawMessage, error) {
	bounded, cancel := context.WithTimeout(ctx, milliseconds(s.MaxMS))
	defer cancel()
	quiet := false
	for range maxFollowed {
		if e.follow(bounded) != nil {
			break
		}
		commits := e.view.navigation().commits
		told, err := e.quiet(bounded, s.QuietMS)
		if bounded.Err() != nil {
			break
		}
		if _, isRefused := errors.AsType[*CallError](err); err != nil && !isRefused {
			return nil, err
		}
		if nav := e.view.navigation(); err == nil && nav.commits == commits && nav.phase == phaseNone {
			quiet = told
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return encode(Settled{Navigated: e.view.navigation().commits > 0, Quiet: quiet})
}

// follow waits until no navigation of the main frame is under way.
func (e *Executor) follow(ctx context.Context) error {
	for {
		err := e.view.until(ctx, func() bool { return e.view.nav.phase <= phaseRequested })
		if err != nil || e.view.navigation().phase == phaseNone {
			return err
		}
		patient, cancel := context.WithTimeout(ctx, requestGrace)
		err = e.view.until(patient, func() bool { return e.view.nav.phase != phaseRequested })
		cancel()
		if err != nil {
			e.view.update(e.view.nav.stay)
		}
	}
}

// quiet asks the page once. A page that fails to say is not quiet; one that goes away refuses, with a *CallError.
func (e *Executor) quiet(ctx context.Context, quietMS int) (bool, error) {
	deadline, _ := ctx.Deadline()
	args, err := encode(map[string]any{"quiet_ms": quietMS, "max_ms": max(1, time.Until(deadline).Milliseconds())})
	if err != nil {
		return false, err
	}
	answer, err := e.askQuiet(ctx, args)
	if _, isFailure := errors.AsType[*Error](err); isFailure {
		return false, nil
	}
	if err != nil {
		e.view.dropWorld(e.view.mainFrame())
		return false, err
	}
	var value struct {
		Quiet bool `json:"quiet"`
	}
	return json.Unmarshal(answer, &value) == nil && value.Quiet, nil
}

func (e *Executor) askQuiet(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
	w, err := e.world(ctx, e.main())
	if err != nil {
		return nil, err
	}
	return e.invoke(ctx, w, functionQuiet, map[string]any{"value": args})
}
