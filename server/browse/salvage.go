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
	if failed, ok := errors.AsType[*program.Error](err); ok {
		switch {
		case j.isStuck(failed):
			return e.afresh(ctx, j)
		case j.isMute(failed):
			return e.openAgain(ctx, j)
		case j.plan.landed != absent && failed.Step >= j.plan.landed && failed.Code != string(fault.Timeout):
			return e.lookAgain(ctx, j, ran)
		case failed.Code == string(fault.NavigationFailed):
			e.keepFailed(j, ran.Tab, failed.Message)
		}
	}
	told := e.trouble(err, j.plan, j.about)
	if j.plan.locate != absent && len(ran.Steps) > j.plan.locate+1 {
		told = fault.New(told.Code, told.Message+" (the click was sent; its outcome is unknown)", "Take a snapshot. Do not click again before you know.")
	}
	return Result{}, told
}

// lookAgain asks for the page in a second program, after one that ended before it could say.
func (e *Engine) lookAgain(ctx context.Context, j job, ran program.Result) (Result, error) {
	second := newPlan(ran.Tab, j.action, j.limit)
	if second.Tab == "" {
		second.Tab = j.tab
	}
	second.settleFor(quietMS, settleMS)
	if j.action.Action == "fill" {
		second.value = second.run("@value", j.about.frame, object{"target": j.about.target()})
	}
	second.look(j.action, j.budget())
	again, err := e.send(ctx, second)
	if err != nil {
		return Result{}, e.trouble(err, second, j.about)
	}
	again.Dialogs = append(ran.Dialogs, again.Dialogs...)
	again.Opened = append(ran.Opened, again.Opened...)
	first := j.plan
	j.plan = second
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
