package browse

import (
	"fmt"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// mostReturned is how many characters of what a script came to are told.
const mostReturned = 20_000

// eval runs a script in the document that an element stands in, else in the main one.
func (p *plan) eval(e element, expression string) {
	p.script = p.add(program.Step{Frame: e.frame, Eval: &program.Eval{Expression: expression, MaxChars: mostReturned}})
	p.settleFor(quietMS, settleMS)
}

// readReturned tells what a script came to. It is the page's word, like all else that the page says.
func readReturned(r *reading) error {
	var told program.Evaluated
	found, err := r.decode(r.job.plan.script, &told)
	if err != nil || !found {
		return err
	}
	if told.Thrown != "" {
		return fault.New(fault.BadRequest, "The script threw an error", "Correct it; what it did before stays done.").WithDetail(short(told.Thrown, longestDialog))
	}
	value := program.Clip(cleanLines(told.Value), mostReturned)
	r.result.Returned = &value
	if told.Opaque {
		r.notice("JSON cannot hold this value, so it is only named: return plain data, such as element.outerHTML, [...set], Object.fromEntries(map) or String(value).")
	}
	if told.More > 0 {
		r.notice(fmt.Sprintf("%d more characters of the value are left out: return less.", told.More))
	}
	return nil
}
