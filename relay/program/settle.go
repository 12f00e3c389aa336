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
		var err error
		quiet, err = e.quiet(bounded, s.QuietMS)
		if err != nil && bounded.Err() != nil {
			quiet = false
			break
		}
		if err != nil && !isContextGone(err) && !isContextLost(err) {
			return nil, err
		}
		if nav := e.view.navigation(); err == nil && nav.commits == commits && nav.phase == phaseNone {
			break
		}
		quiet = false
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

// quiet asks the page once. A page that fails to say is not quiet.
func (e *Executor) quiet(ctx context.Context, quietMS int) (bool, error) {
	deadline, _ := ctx.Deadline()
	args, err := encode(map[string]any{"quiet_ms": quietMS, "max_ms": max(1, time.Until(deadline).Milliseconds())})
	if err != nil {
		return false, err
	}
	main := e.main()
	w, err := e.world(ctx, main)
	if err != nil {
		return false, err
	}
	answer, err := e.invoke(ctx, w, functionQuiet, map[string]any{"value": args})
	var failure *Error
	if errors.As(err, &failure) {
		return false, nil
	}
	if err != nil {
		e.view.dropWorld(main.frame)
		return false, err
	}
	var value struct {
		Quiet bool `json:"quiet"`
	}
	if json.Unmarshal(answer, &value) != nil {
		return false, nil
	}
	return value.Quiet, nil
}
