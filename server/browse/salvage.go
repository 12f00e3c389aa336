package browse

import (
	"context"
	"errors"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// salvage makes the best of a program that a step ended: where only the question whether a click landed went
// unanswered, the click was sent and is not sent again.
func (e *Engine) salvage(ctx context.Context, j job, ran program.Result, err error) (Result, error) {
	failed, ok := errors.AsType[*program.Error](err)
	if no := e.refusal(j, failed); no != nil {
		return Result{}, no
	}
	switch {
	case !ok:
		return Result{}, j.told(e.trouble(err, j.plan, j.about), ran)
	case failed.Code == string(fault.DialogOpen) && failed.Step >= 0:
		return e.heldUp(ctx, j, ran)
	case j.mayLeave(failed):
		return e.openInstead(ctx, j)
	case j.isStuck(failed):
		return e.afresh(ctx, j)
	case j.isMute(failed):
		return e.openAgain(ctx, j)
	case j.isLetGo(failed), j.isSent(failed):
		return e.lookAgain(ctx, j, ran)
	case failed.Code == string(fault.NavigationFailed):
		return e.withoutPage(j, ran, failed)
	}
	return Result{}, j.told(e.trouble(err, j.plan, j.about), ran)
}

// isSent reports that a click was sent, and only what came of it is not known.
func (j job) isSent(failed *program.Error) bool {
	return j.plan.landed != absent && failed.Step >= j.plan.settle && failed.Code != string(fault.Timeout)
}

// refusal is what a failure says by itself, where it is of what the action names or of a dialog that is not there.
func (e *Engine) refusal(j job, failed *program.Error) error {
	if failed == nil {
		return nil
	}
	if err := e.notPicked(j, failed); err != nil {
		return err
	}
	if no := j.plan.refusedAnswer(failed); no != nil {
		return no
	}
	return nil
}

// withoutPage tells of a navigation that brought no page.
func (e *Engine) withoutPage(j job, ran program.Result, failed *program.Error) (Result, error) {
	if failed.Message == noBody && j.opens != "" {
		return e.bare(j, ran, answerOf(failed.Detail)), nil
	}
	e.keepFailed(j, ran.Tab, failed.Message)
	return Result{}, j.told(e.trouble(failed, j.plan, j.about), ran)
}

// told says with a failure what had been sent before it.
func (j job) told(f *fault.Fault, ran program.Result) *fault.Fault {
	what := j.sent(ran)
	if what == "" {
		return f
	}
	return fault.New(f.Code, f.Message+" ("+what+" was sent; its outcome is unknown)", "Take a snapshot. Do not repeat it before you know.").WithDetail(f.Detail)
}

// sent is what of the action had gone to the page when the program ended.
func (j job) sent(ran program.Result) string {
	p := j.plan
	switch {
	case p.locate != absent && len(ran.Steps) > p.locate+1 && string(ran.Steps[p.locate]) != "null":
		return "the click"
	case p.focus != absent && len(ran.Steps) > p.focus+1:
		return "what was entered"
	}
	return ""
}

// lookAgain asks for the page in a second program, after one that ended before it could say.
func (e *Engine) lookAgain(ctx context.Context, j job, ran program.Result) (Result, error) {
	second := newPlan(ran.Tab, j.action, j.left())
	if second.Tab == "" {
		second.Tab = j.tab
	}
	second.settleFor(quietMS, settleMS)
	second.look(j.action, j.view)
	again, err := e.send(ctx, second)
	if err != nil {
		return Result{}, e.trouble(err, second, j.about)
	}
	again.Dialogs = append(ran.Dialogs, again.Dialogs...)
	again.Opened = append(ran.Opened, again.Opened...)
	first := j.plan
	j.plan, j.first = second, first
	result, err := e.read(ctx, j, again)
	if err != nil || first.landed == absent {
		return result, err
	}
	if len(ran.Steps) <= first.landed {
		result.Notices = append(result.Notices, landingUnknown)
		return result, nil
	}
	landing := &reading{job: job{plan: first}, ran: ran}
	err = readLanding(landing)
	result.Landed = landing.result.Landed
	result.Notices = append(result.Notices, landing.result.Notices...)
	return result, err
}
