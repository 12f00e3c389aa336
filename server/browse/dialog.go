package browse

import (
	"context"
	"fmt"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// dialogPatience is how long a dialog stands unanswered where nothing else is said.
const dialogPatience = time.Minute

// giveUpTime bounds the dismissal of a dialog that nobody answered.
const giveUpTime = 10 * time.Second

// dialogs are those that stand open, by tab, and those that were given up since the last answer.
type dialogs struct {
	open   map[string]*standing
	missed []program.Dialog
}

// standing is a dialog that stands open until it is answered or its time is up.
type standing struct {
	program.Dialog
	timer *time.Timer
	// held is the mouse button that is down since the dialog opened, where it is one.
	held *press
}

// press is a mouse button that went down at a place.
type press struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	button string
	count  int
}

// kept are the kinds of dialogs that stay open while a program runs. In a read-only session, and where a page is left
// in any case, none does.
func (e *Engine) kept(p *plan) []string {
	switch {
	case e.options.ReadOnly || p.answers:
		return nil
	case p.leaves:
		return []string{"alert", "confirm", "prompt"}
	}
	return []string{"alert", "confirm", "prompt", "beforeunload"}
}

// noteDialogs keeps account of which dialog stands open in a program's tab.
func (e *Engine) noteDialogs(p *plan, ran program.Result) {
	tab := ran.Tab
	if tab == "" {
		tab = p.Tab
	}
	last := len(ran.Dialogs) - 1
	before := e.dialogs.open[tab]
	switch {
	case last >= 0 && ran.Dialogs[last].Open && before != nil && ran.Error != nil && ran.Error.Step < 0:
		return // it is the same one
	case before != nil:
		before.timer.Stop()
		delete(e.dialogs.open, tab)
	}
	if last < 0 || !ran.Dialogs[last].Open {
		return
	}
	s := &standing{Dialog: ran.Dialogs[last], held: p.heldSince(ran)}
	s.timer = time.AfterFunc(e.options.DialogPatience, func() { e.giveUp(tab, s) })
	e.dialogs.open[tab] = s
}

// giveUp dismisses a dialog that nobody answered in time; the next answer tells of it.
func (e *Engine) giveUp(tab string, s *standing) {
	ctx, cancel := context.WithTimeout(context.Background(), giveUpTime)
	defer cancel()
	select {
	case <-e.turn:
		defer func() { e.turn <- struct{}{} }()
	case <-ctx.Done():
		return // whoever acts now meets it
	}
	if e.dialogs.open[tab] != s {
		return
	}
	p := newPlan(tab, Action{}, giveUpTime)
	p.answers = true
	p.release(s.held)
	p.settleFor(0, 1)
	if _, err := e.send(ctx, p); err == nil {
		s.Open = false
		e.dialogs.missed = append(e.dialogs.missed, s.Dialog)
	}
}

// tellMissed tells of the dialogs that were given up.
func (e *Engine) tellMissed(r *Result) {
	for _, d := range e.dialogs.missed {
		r.Dialogs = append([]program.Dialog{cleanDialog(d)}, r.Dialogs...)
		r.Notices = append(r.Notices, fmt.Sprintf("%s stood unanswered for %s and was dismissed.", oneDialog(d), e.options.DialogPatience))
	}
	e.dialogs.missed = nil
}

// answer presses a button of the dialog that is open; what it held up goes on.
func (p *plan) answer(a Action, s *standing) {
	params := object{"accept": *a.Accept}
	switch {
	case a.Text != nil:
		params["promptText"] = *a.Text
	case s != nil && s.Default != "":
		params["promptText"] = s.Default
	}
	p.answered = p.call("Page.handleJavaScriptDialog", params)
	if s != nil {
		p.release(s.held)
	}
	p.settleFor(quietMS, settleMS)
}

// release lets go of a mouse button that a dialog kept down.
func (p *plan) release(held *press) {
	if held == nil {
		return
	}
	p.call(mouseEvent, object{"type": "mouseReleased", "x": held.X, "y": held.Y, "button": held.button, "clickCount": held.count})
}

// heldUp is the answer to an action that a dialog interrupted: what was begun is done, and what comes of it shows once
// the dialog is answered.
func (e *Engine) heldUp(ctx context.Context, j job, ran program.Result) (Result, error) {
	last := ran.Dialogs[len(ran.Dialogs)-1]
	tab := ran.Tab
	if tab == "" {
		tab = j.tab
	}
	ran.Opened = e.arrived(ctx, ran.Opened)
	r := &reading{job: j, options: e.options, ran: ran, result: Result{Tab: tab, Dialogs: []program.Dialog{}, Notices: []string{}}}
	for _, t := range e.browser.Tabs() {
		if t.ID != tab {
			continue
		}
		if !e.options.allows(e.address(tab, t.URL)) {
			return Result{}, e.takeBack(ctx, j, tab)
		}
		shown := cleanTab(t)
		r.result.URL, r.result.Title = shown.URL, shown.Title
		if isSamePlace(t.URL, e.stands[tab]) { // a browser tells a new title late
			r.result.Title = e.titles[tab]
		}
	}
	if isReading(j.action) {
		return Result{}, dialogOpen(last)
	}
	r.events()
	return r.result, nil
}

// stood puts into a refusal for an open dialog which one it is.
func stood(ran program.Result) error {
	last := len(ran.Dialogs) - 1
	if ran.Error.Code != string(fault.DialogOpen) || ran.Error.Step >= 0 || last < 0 {
		return ran.Error
	}
	return dialogOpen(ran.Dialogs[last])
}

// isReading reports whether nothing came of an action but an answer that is not there.
func isReading(a Action) bool {
	return a.Action == "snapshot" || a.Action == "get_text" || a.Action == "screenshot" || a.Action == "eval"
}

// dialogOpen refuses what cannot be done while a dialog is open.
func dialogOpen(d program.Dialog) *fault.Fault {
	told := fault.New(fault.DialogOpen, oneDialog(d)+" is open in this tab", hint(fault.DialogOpen))
	return told.WithDetail(`it says "` + cleanDialog(d).Message + `"`)
}

// oneDialog is a dialog by its kind, as a sentence begins with it.
func oneDialog(d program.Dialog) string {
	if d.Type == "alert" {
		return "An alert dialog"
	}
	return "A " + roleText(d.Type) + " dialog"
}

func cleanDialog(d program.Dialog) program.Dialog {
	d.Type, d.Message, d.Default = roleText(d.Type), short(d.Message, longestDialog), short(d.Default, longestDialog)
	return d
}

// refusedAnswer says why a dialog could not be answered, where the browser itself refused: the step also ends when the next
// dialog is told of before the browser's yes to the answer, and that is no refusal.
func (p *plan) refusedAnswer(failed *program.Error) *fault.Fault {
	isRefusal := failed.Code == string(fault.BadRequest) || failed.Code == string(fault.Internal)
	if p.answered == absent || failed.Step != p.answered || !isRefusal {
		return nil
	}
	return fault.New(fault.NotFound, "No dialog is open in this tab", "It may have been answered already: take a snapshot.")
}
