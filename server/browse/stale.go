package browse

import (
	"context"
	"time"

	"chaperone/server/fault"
)

// pointOut adds to a refusal of a stale ref which element stands in its place now, where exactly one does. That takes a
// second program: only the first could tell that the ref is stale.
func (e *Engine) pointOut(ctx context.Context, a Action, j job, failed error) error {
	if !fault.Is(failed, fault.StaleRef) {
		return failed
	}
	ref := a.Ref
	if a.Action == "snapshot" {
		ref = a.Scope
	}
	was, known := e.refs.sights[ref]
	if !known || was.tab != j.tab {
		return failed
	}
	now, found := e.successor(ctx, ref, was, j)
	if !found {
		return failed
	}
	f := fault.Of(failed)
	detail := called(was.role, was.name) + " is [ref=" + now + "] now"
	if f.Detail != "" {
		detail = f.Detail + "\n" + detail
	}
	return fault.New(f.Code, f.Message, "Use "+now+" if that is what you mean, or take a new snapshot.").WithDetail(detail)
}

// successor asks the page for what is called as the ref's element was.
func (e *Engine) successor(ctx context.Context, ref string, was sight, j job) (string, bool) {
	const patience = 3 * time.Second // a refusal is not worth more
	p := newPlan(j.tab, Action{}, min(patience, j.limit))
	at := p.runEach("@find", object{"role": was.role, "name": was.name, "exact": true, "budget": defaultBudget})
	ran, err := e.send(ctx, p)
	if err != nil || len(ran.Steps) <= at {
		return "", false
	}
	shots, err := e.options.decodeShots(j.tab, ran.Steps[at])
	if err != nil {
		return "", false
	}
	now, err := shots.render(e.refs, "", view{wanted: wanted{role: was.role, name: was.name}})
	if err != nil || now.more > 0 {
		return "", false // there are too many to tell
	}
	return e.refs.successor(ref)
}
