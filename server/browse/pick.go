package browse

import (
	"encoding/json"
	"fmt"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// picks reports whether the program itself finds the element that the action names by role and name. Where the project
// limits domains the element is judged first, and files go to the page ahead of their program.
func (e *Engine) picks(a Action) bool {
	return a.Ref == "" && len(e.options.AllowDomains) == 0 && a.Action != "upload"
}

// pick finds the one element that the action names, and answers it as the steps after that may name it.
func (p *plan) pick(a Action, tab string) element {
	p.picked = p.add(program.Step{
		Run: "@find", EachFrame: true, Pick: &program.Pick{Nth: a.Nth},
		Args: p.raw(object{"role": a.Role, "name": a.Name, "limit": most(a.Nth) + 20}),
	})
	const unknown = -1 // an element, though it has no number yet
	return element{key: key{tab: tab, frame: fmt.Sprintf("$%d.frame", p.picked), node: unknown}, role: a.Role, name: a.Name, picked: p.picked + 1}
}

// hasPicked takes the place of what was picked, where the program came so far.
func (j *job) hasPicked(ran program.Result) error {
	at := j.plan.picked
	if at == absent || at >= len(ran.Steps) {
		return nil
	}
	var told struct {
		Frame  string `json:"frame"`
		Target struct {
			Doc  string `json:"doc"`
			Node int    `json:"node"`
		} `json:"target"`
		Expect struct {
			Role string `json:"role"`
			Name string `json:"name"`
		} `json:"expect"`
	}
	if err := json.Unmarshal(ran.Steps[at], &told); err != nil {
		return fault.Wrap(fmt.Errorf("decode what was picked: %w", err), "the browser answered in another shape")
	}
	j.about = element{
		key:  key{tab: j.about.tab, frame: told.Frame, doc: told.Target.Doc, node: told.Target.Node},
		role: told.Expect.Role, name: told.Expect.Name,
	}
	return nil
}

// notPicked says that not exactly one element fits, with those that do; nil for any other failure.
func (e *Engine) notPicked(j job, failed *program.Error) error {
	code := fault.Code(failed.Code)
	if j.plan.picked == absent || failed.Step != j.plan.picked || code != fault.NotFound && code != fault.Ambiguous {
		return nil
	}
	found, err := e.options.matches(j.tab, failed.Detail)
	if err != nil {
		return err
	}
	_, err = e.choose(found, j.action)
	return err
}
