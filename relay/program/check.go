package program

import (
	"encoding/json"
	"fmt"
	"slices"

	"chaperone/relay/cdp"
)

// The bounds of a program.
const (
	MaxSteps      = 256
	MaxDeadlineMS = 120_000
)

// The codes of the contract that a check or an executor gives of its own accord.
const (
	codeBadRequest       = "bad_request"
	codeForbidden        = "forbidden"
	codeNotFound         = "not_found"
	codeAmbiguous        = "ambiguous"
	codeCovered          = "covered"
	codeDialogOpen       = "dialog_open"
	codeNavigationFailed = "navigation_failed"
	codeTimeout          = "timeout"
	codeUnavailable      = "unavailable"
	codeInternal         = "internal"
)

const (
	functionLocate  = "@locate"
	functionFind    = "@find"
	functionQuiet   = "@quiet"
	functionHistory = "@history"
	functionOwner   = "@owner" // asked by the edge alone; no program may
	functionOver    = "@over"  // likewise
	functionHit     = "@hit"   // likewise
	mouseEvent      = "Input.dispatchMouseEvent"
	methodNavigate  = "Page.navigate"
	methodStop      = "Page.stopLoading"
	beforeFirstStep = -1
)

// Check holds a program against its bounds and against the table at a level, before anything runs. It answers
// bad_request for a wrong shape and forbidden for what the level does not permit; nil when the program may run.
//
// A located parameter (see methods.json) must come from an earlier `run @locate` in one frame, with nothing but
// mouse events at the same place between the two: what was located is what is clicked.
func Check(p Program, level Level, table *cdp.Table) *Error {
	switch {
	case p.Tab == "":
		return refuse(codeBadRequest, "the program names no tab")
	case p.DeadlineMS < 1 || p.DeadlineMS > MaxDeadlineMS:
		return refuse(codeBadRequest, "deadline_ms is not between 1 and %d", MaxDeadlineMS)
	case len(p.Steps) > MaxSteps:
		return refuse(codeBadRequest, "the program has more than %d steps", MaxSteps)
	}
	if err := checkKept(p.KeepDialogs); err != nil {
		return err
	}
	c := checker{steps: p.Steps, level: string(level), table: table}
	for i := range p.Steps {
		if err := c.step(i); err != nil {
			err.Message = fmt.Sprintf("step %d: %s", i, err.Message)
			return err
		}
	}
	return nil
}

func refuse(code, format string, a ...any) *Error {
	return &Error{Step: beforeFirstStep, Code: code, Message: fmt.Sprintf(format, a...)}
}

type checker struct {
	steps []Step
	level string
	table *cdp.Table
}

func (c checker) step(i int) *Error {
	s := c.steps[i]
	if err := checkShape(s); err != nil {
		return err
	}
	if err := checkReferences(s, i); err != nil {
		return err
	}
	switch {
	case s.Run != "":
		return permitted(c.table.Function(c.level, s.Run))
	case s.Call != "":
		return c.call(i)
	case s.Settle != nil:
		return checkSettle(*s.Settle)
	case s.Await != nil:
		return c.await(*s.Await)
	case s.Eval != nil:
		return c.eval(*s.Eval)
	default:
		return nil
	}
}

// checkShape sees to exactly one kind, with only its own fields beside it.
func checkShape(s Step) *Error {
	if countKinds(s) != 1 {
		return refuse(codeBadRequest, "a step is exactly one of run, call, settle, await, stop_if and eval")
	}
	if err := checkBeside(s); err != nil {
		return err
	}
	if err := checkPick(s); err != nil {
		return err
	}
	for _, part := range parts(s) {
		if !isObject(part) {
			return refuse(codeBadRequest, "args and params are JSON objects")
		}
	}
	return nil
}

// checkBeside sees to it that what stands beside the kind is its own.
func checkBeside(s Step) *Error {
	takesFrame := s.Run != "" || s.Eval != nil
	switch {
	case s.Run == "" && (s.Args != nil || s.EachFrame), !takesFrame && s.Frame != "":
		return refuse(codeBadRequest, "args, frame and each_frame belong to run")
	case s.Call == "" && s.Params != nil:
		return refuse(codeBadRequest, "params belong to call")
	case s.Frame != "" && s.EachFrame:
		return refuse(codeBadRequest, "frame and each_frame exclude each other")
	case s.StopIf != nil && s.If != nil:
		return refuse(codeBadRequest, "if and stop_if exclude each other")
	}
	return nil
}

func countKinds(s Step) int {
	kinds := []bool{s.Run != "", s.Call != "", s.Settle != nil, s.Await != nil, s.StopIf != nil, s.Eval != nil}
	return len(slices.DeleteFunc(kinds, func(present bool) bool { return !present }))
}

// parts are the JSON objects of a step in which references may stand.
func parts(s Step) []json.RawMessage {
	all := []json.RawMessage{s.Args, s.Params}
	if s.Await != nil {
		all = append(all, s.Await.Args)
	}
	return slices.DeleteFunc(all, func(raw json.RawMessage) bool { return raw == nil })
}

func isObject(raw json.RawMessage) bool {
	value, err := decodeAny(raw)
	_, ok := value.(map[string]any)
	return err == nil && ok
}

// checkReferences sees to it that every reference of step i leads to an earlier step.
func checkReferences(s Step, i int) *Error {
	var all []string
	for _, ref := range []*Ref{s.StopIf, s.If} {
		if ref != nil {
			all = append(all, ref.Path)
		}
	}
	if path := framePath(s.Frame); path != "" {
		all = append(all, path)
	}
	for _, raw := range parts(s) {
		value, err := decodeAny(raw)
		if err != nil {
			return refuse(codeBadRequest, "args and params are JSON objects")
		}
		found, err := paths(value)
		if err != nil {
			return refuse(codeBadRequest, "%s", err)
		}
		all = append(all, found...)
	}
	slices.Sort(all)
	for _, path := range all {
		step, _, err := parsePath(path)
		if err != nil {
			return refuse(codeBadRequest, "%s", err)
		}
		if step >= i {
			return refuse(codeBadRequest, "reference %q does not lead to an earlier step", path)
		}
	}
	return nil
}

func permitted(v cdp.Verdict) *Error {
	if v.Allowed() {
		return nil
	}
	return refuse(codeForbidden, "%s", v.Reason)
}

func (c checker) call(i int) *Error {
	verdict := c.table.Call(c.level, c.steps[i].Call, c.steps[i].Params)
	if err := permitted(verdict); err != nil {
		return err
	}
	for _, from := range verdict.Located {
		if !c.isLocatedBy(i, from) {
			return refuse(codeForbidden, "x and y must come from one step that ran @locate in one frame, with nothing but mouse events there since")
		}
	}
	return nil
}

// isLocatedBy reports whether step i clicks where step from located, and every step between the two does too.
func (c checker) isLocatedBy(i, from int) bool {
	if from >= i || c.steps[from].Run != functionLocate || c.steps[from].EachFrame {
		return false
	}
	for _, s := range c.steps[from+1 : i+1] {
		located := c.table.Call(c.level, s.Call, s.Params).Located
		if s.Call != mouseEvent || len(located) == 0 || slices.ContainsFunc(located, func(n int) bool { return n != from }) {
			return false
		}
	}
	return true
}

func checkSettle(s Settle) *Error {
	if s.QuietMS < 0 || s.QuietMS > MaxDeadlineMS {
		return refuse(codeBadRequest, "quiet_ms is not between 0 and %d", MaxDeadlineMS)
	}
	return checkTime(s.MaxMS)
}

func checkTime(maxMS int) *Error {
	if maxMS < 1 || maxMS > MaxDeadlineMS {
		return refuse(codeBadRequest, "max_ms is not between 1 and %d", MaxDeadlineMS)
	}
	return nil
}

// await permits a condition only where the function may be asked again and again.
func (c checker) await(a Await) *Error {
	switch {
	case (a.Event == "") == (a.Run == ""):
		return refuse(codeBadRequest, "await is exactly one of event and run")
	case a.Event != "" && (a.Args != nil || a.EachFrame):
		return refuse(codeBadRequest, "args and each_frame belong to run")
	case checkTime(a.MaxMS) != nil:
		return checkTime(a.MaxMS)
	case a.Event != "":
		return permitted(c.table.Event(c.level, a.Event))
	case c.table.Function(c.level, a.Run).Allowed() && !c.table.CanRetry(a.Run):
		return refuse(codeBadRequest, "%s is not a condition", a.Run)
	default:
		return permitted(c.table.Function(c.level, a.Run))
	}
}
