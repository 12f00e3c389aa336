package program

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// pollInterval is the pause between two questions of an await.
const pollInterval = 100 * time.Millisecond

// await waits for the first event of a name since the program's start, or for a condition.
func (e *Executor) await(ctx context.Context, a Await, args json.RawMessage) (json.RawMessage, error) {
	bounded, cancel := context.WithTimeout(ctx, milliseconds(a.MaxMS))
	defer cancel()
	var value json.RawMessage
	var err error
	if a.Event != "" {
		value, err = e.awaitEvent(bounded, a.Event)
	} else {
		value, err = e.awaitCondition(bounded, a, args)
	}
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return nil, fault(codeTimeout, fmt.Sprintf("%s%s did not come about within %d ms", a.Event, a.Run, a.MaxMS))
	}
	return value, err
}

func (e *Executor) awaitEvent(ctx context.Context, name string) (params json.RawMessage, err error) {
	err = e.view.until(ctx, func() (seen bool) {
		params, seen = e.view.seen[name]
		return seen
	})
	if len(params) == 0 {
		params = nothing()
	}
	return params, err
}

func (e *Executor) awaitCondition(ctx context.Context, a Await, args json.RawMessage) (json.RawMessage, error) {
	for {
		answer, err := e.function(ctx, e.main(), a.Run, args)
		if err != nil && !isContextGone(err) && !isContextLost(err) {
			return nil, err
		}
		if err == nil && holdsTrue(answer) {
			return answer, nil
		}
		if inner := e.inOtherFrames(ctx, a, args); inner != nil {
			return inner, nil
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// inOtherFrames is what the first of the other frames says that does not say no; nil where none does.
func (e *Executor) inOtherFrames(ctx context.Context, a Await, args json.RawMessage) json.RawMessage {
	if !a.EachFrame {
		return nil
	}
	l, err := e.layout(ctx)
	if err != nil {
		return nil // it is asked again
	}
	for _, answer := range e.readFrames(ctx, time.Now().Add(readTimeout), l.order[1:], a.Run, args) {
		if answer != nil && holdsTrue(answer) {
			return answer
		}
	}
	return nil
}

// holdsTrue reports whether an answer is truthy as in JavaScript.
func holdsTrue(answer json.RawMessage) bool {
	value, err := decodeAny(answer)
	return err == nil && isTruthy(value)
}
