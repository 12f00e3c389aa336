package browse

import (
	"fmt"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// late says what did not happen in time: what was waited for, the answer of a server, or that of the page itself.
func (p *plan) late(failed *program.Error) *fault.Fault {
	switch {
	case p.waited != absent && failed.Step == p.waited:
		what := "The text did not appear"
		if p.forAddress {
			what = "The address did not come to fit the pattern"
		}
		return fault.New(fault.Timeout, fmt.Sprintf("%s within %d ms", what, p.Steps[p.waited].Await.MaxMS), hint(fault.Timeout))
	case p.navigate != absent && failed.Step == p.navigate:
		return fault.New(fault.Timeout, fmt.Sprintf("The page was not there within %d ms; it goes on loading", p.DeadlineMS), hint(fault.Timeout))
	case isWaiting(failed):
		return lateWaiting()
	case failed.Step < 0:
		return unanswered()
	case time.Since(p.sent) >= time.Duration(p.DeadlineMS)*time.Millisecond*9/10: // it may have been told of less
		return fault.New(fault.Timeout, fmt.Sprintf("The page did not answer within %d ms: it is busy or hangs", p.DeadlineMS), freshTab)
	}
	return fault.New(fault.Timeout, message(fault.Timeout, failed), hint(fault.Timeout))
}

// freshTab is what to do about a page that does not answer.
const freshTab = "What was asked may have happened. Try again later, or open an address: where the page still hangs, open starts in a fresh tab."

// unanswered is told when not even the browser answered.
func unanswered() *fault.Fault {
	return fault.New(fault.Timeout, "The browser did not answer in time: the page or the browser hangs", freshTab)
}
