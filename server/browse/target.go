package browse

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// find answers the element that the action names: by ref at once, by role and name by asking every frame.
func (e *Engine) find(ctx context.Context, a Action, tab string, limit time.Duration) (element, error) {
	if a.Ref != "" {
		return e.byRef(a.Ref, tab)
	}
	p := newPlan(tab, a, limit)
	at := p.runEach("@find", object{"role": a.Role, "name": a.Name, "limit": most(a.Nth) + 20})
	result, err := e.send(ctx, p)
	if err != nil {
		return element{}, e.trouble(err, p, element{})
	}
	found, err := e.options.matches(tab, result.Steps[at])
	if err != nil {
		return element{}, err
	}
	return e.choose(found, a)
}

func most(nth *int) int {
	if nth == nil {
		return 0
	}
	return *nth + 1
}

func (e *Engine) byRef(ref, tab string) (element, error) {
	known, ok := e.refs.byRef[ref]
	now := e.refs.became[ref]
	if _, alive := e.refs.byRef[now]; !alive {
		now = "" // that has gone since, or become yet another one
	}
	switch {
	case ok && known.tab != tab:
		return element{}, fault.New(fault.StaleRef, "The ref belongs to tab "+known.tab, "Use select_tab first.")
	case ok:
		return known, nil
	case now != "":
		is := e.refs.byRef[now]
		told := fault.New(fault.StaleRef, "The element has become another one since it was given this ref; it is "+now+" now", hint(fault.StaleRef))
		return element{}, told.WithDetail("it is now " + called(is.role, is.name))
	case e.refs.isGiven(ref):
		return element{}, fault.New(fault.StaleRef, "The page that "+ref+" stood on is gone", hint(fault.StaleRef))
	}
	return element{}, fault.New(fault.StaleRef, "No element has the ref "+ref, hint(fault.StaleRef))
}

// matches are the elements that fit, of frames that the project allows; a frame's element counts as what is in it.
func (o Options) matches(tab string, raw json.RawMessage) ([]element, error) {
	var frames []program.FrameResult
	if err := json.Unmarshal(raw, &frames); err != nil {
		return nil, fault.Wrap(fmt.Errorf("decode matches: %w", err), "the browser answered in another shape")
	}
	judged := o.judge(frames)
	var all []element
	for _, frame := range frames {
		var found struct {
			Doc     string     `json:"doc"`
			Matches []pageLine `json:"matches"`
		}
		if json.Unmarshal(frame.Value, &found) != nil || !judged.admitted[frame.Frame] {
			continue
		}
		in := key{tab: tab, doc: found.Doc}
		if frame.Parent != "" {
			in.frame = frame.Frame
		}
		for _, m := range found.Matches {
			if !judged.holdsRefused(frame.Frame, m.Node) {
				all = append(all, m.element(in))
			}
		}
	}
	return all, nil
}

func (e *Engine) choose(found []element, a Action) (element, error) {
	nth := 0
	if a.Nth != nil {
		nth = *a.Nth
	}
	switch {
	case nth >= len(found):
		return element{}, fault.New(fault.NotFound, fmt.Sprintf("%d elements fit this role and name", len(found)), hint(fault.NotFound))
	case a.Nth != nil || len(found) == 1:
		return found[nth], nil
	}
	lines := make([]string, 0, mostListed)
	for _, one := range found[:min(len(found), mostListed)] {
		lines = append(lines, called(one.role, one.name)+" [ref="+e.refs.of(one, func(element) bool { return true })+"]")
	}
	told := fault.New(fault.Ambiguous, fmt.Sprintf("%d elements fit this role and name", len(found)), hint(fault.Ambiguous))
	return element{}, told.WithDetail(strings.Join(lines, "\n"))
}
