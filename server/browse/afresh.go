package browse

import (
	"context"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// tabCloser is a browser that can close a tab whose page does not answer.
type tabCloser interface {
	// CloseTab gives a tab up: it is no longer listed when the call returns. It never waits for the page, and refuses
	// a person's own tab, which is not ours to close.
	CloseTab(ctx context.Context, id string) error
}

// isStuck reports that a program for open ended because the page that stands in the tab did not answer.
func (j job) isStuck(failed *program.Error) bool {
	return j.plan.awake != absent && failed.Step <= j.plan.awake && failed.Code == string(fault.Timeout)
}

// isMute reports that the page that stands in the tab cannot be asked, which is no reason not to leave it.
func (j job) isMute(failed *program.Error) bool {
	return j.plan.awake != absent && failed.Step == j.plan.awake && failed.Code == string(fault.Internal)
}

// isLetGo reports that the browser let go of the tab while it went where the action sent it, as some do for a document of
// their own viewer's: what stands there is looked at once more.
func (j job) isLetGo(failed *program.Error) bool {
	return j.opens != "" && j.tab != program.NewTab && failed.Code == string(fault.TabSuspended)
}

// afresh opens the address in a new tab, and gives up the one that hangs where that is the edge's to do.
func (e *Engine) afresh(ctx context.Context, j job) (Result, error) {
	stuck, left := j.tab, "was left as it is"
	if closer, ok := e.browser.(tabCloser); ok && closer.CloseTab(ctx, stuck) == nil {
		left = "was closed"
	}
	j.tab = program.NewTab
	result, err := e.openAgain(ctx, j)
	if fault.Is(err, fault.SessionEnded) {
		return Result{}, err
	}
	if f := fault.Of(err); err != nil {
		return Result{}, fault.New(f.Code, "Tab "+stuck+" hangs and "+left+"; in a fresh tab: "+f.Message, f.Hint).WithDetail(f.Detail)
	}
	result.Notices = append([]string{"Tab " + stuck + " hangs and " + left + ": this is the fresh tab " + result.Tab + "."}, result.Notices...)
	return result, nil
}

// leastOpen is what another attempt to open an address has at least: the page that was to be left has taken the rest.
const leastOpen = 2 * time.Second

// openAgain is open without asking first how the page that stands in the tab is.
func (e *Engine) openAgain(ctx context.Context, j job) (Result, error) {
	j.plan = newPlan(j.tab, j.action, max(leastOpen, j.left()))
	j.plan.open(j.opens)
	j.plan.look(j.action, j.view)
	return e.carryOut(ctx, j)
}
