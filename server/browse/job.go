package browse

import (
	"context"
	"time"

	"chaperone/relay/program"
)

// job is one action ready to run.
type job struct {
	action Action
	tab    string
	limit  time.Duration
	began  time.Time
	plan   *plan
	about  element // the element it acts on; zero for none
	onto   element // the element that drag drops on
	view   view
	rest   *remainder // what get_text goes on with
	opens  string     // the address, for open
	moved  bool       // the tab stands elsewhere than at the last answer
	first  *plan      // the one before, where a second program looks at what came of it
}

// leastLeft is what a program has where little or nothing is left of its action's time: a first program had the rest.
const leastLeft = time.Second

// left is how much of the action's time is left, for the next of its programs: together they keep to its limit. What the
// engine itself took is not worth a word.
func (j job) left() time.Duration {
	return max(min(leastLeft, j.limit), j.limit-time.Since(j.began).Truncate(100*time.Millisecond))
}

// prepare finds the element and writes the program.
func (e *Engine) prepare(ctx context.Context, a Action, j job) (job, error) {
	var err error
	if err := e.meant(ctx, a, &j); err != nil {
		return j, err
	}
	if err := e.guard(ctx, a, j); err != nil {
		return j, err
	}
	if err := e.goOn(&j); err != nil {
		return j, err
	}
	if j.view, err = e.viewFor(a, j.tab); err != nil {
		return j, err
	}
	j.plan = newPlan(j.tab, a, j.left())
	j.plan.inFrames = len(e.options.AllowDomains) == 0
	return e.compose(ctx, a, j)
}

// compose writes the program's steps.
func (e *Engine) compose(ctx context.Context, a Action, j job) (job, error) {
	if a.names() && a.Action != "snapshot" && e.picks(a) {
		j.about = j.plan.pick(a, j.tab)
	}
	switch {
	case a.Action == "open", a.Action == "new_tab" && a.URL != "":
		return e.prepareOpen(a, j)
	case a.Action == "new_tab": // a blank page is nobody's: where it stands is not judged
		j.plan.run("@state", "", object{})
		return j, nil
	case a.Action == "dialog":
		j.plan.answer(a, e.dialogs.open[j.tab])
	case a.Action == "upload":
		if err := e.stage(ctx, &j); err != nil {
			return j, err
		}
	}
	j.write(a)
	j.plan.look(a, j.view)
	return j, nil
}

// meant finds the elements that the action names.
func (e *Engine) meant(ctx context.Context, a Action, j *job) error {
	var err error
	if a.names() && a.Action != "snapshot" && !e.picks(a) { // a snapshot looks for what it names
		if j.about, err = e.find(ctx, a, j.tab, j.left()); err != nil {
			return err
		}
	}
	if a.To != "" && a.Action == "drag" {
		j.onto, err = e.byRef(a.To, j.tab)
	}
	return err
}

func (j *job) write(a Action) {
	p := j.plan
	switch a.Action {
	case "click", "download":
		p.fetches = a.Action == "download"
		p.click(a, j.about)
	case "hover":
		p.hover(j.about)
	case "drag":
		p.drag(j.about, j.onto, a.At)
	case "eval":
		p.eval(j.about, a.JS)
	case "fill", "type", "press", "select", "check", "uncheck":
		j.writeInput(a)
	case "scroll":
		p.scrollBy(a, j.named())
	case "back", "forward":
		p.leaves = true
		p.run("@history", "", object{"delta": delta(a)})
		p.settleFor(quietMS, settleMS)
	case "wait":
		p.wait(a)
	case "get_text":
		j.writeText()
	}
}

func (j *job) writeInput(a Action) {
	p := j.plan
	switch a.Action {
	case "fill":
		p.fill(j.about, a.entered())
	case "type":
		p.typeText(j.named(), a.entered())
	case "press":
		all, err := strokes(a.Keys)
		p.err = err
		p.pressKeys(j.named(), all)
	case "select":
		p.choose(j.about, a.Values)
	case "check", "uncheck":
		p.toggle(j.about, a.Action == "check")
	}
}

func delta(a Action) int {
	if a.Action == "back" {
		return -1
	}
	return 1
}

func (j *job) named() *element {
	if j.about.node == 0 {
		return nil
	}
	return &j.about
}

func (j *job) writeText() {
	if j.about.node == 0 {
		j.plan.text = j.plan.runEach("@text", object{"limit": j.textLimit()})
		return
	}
	j.plan.text = j.plan.runEach("@text", object{"scope": j.about.target(), "limit": j.textLimit()})
}

func (e *Engine) prepareOpen(a Action, j job) (job, error) {
	url, err := e.options.checkOpen(a.URL)
	if err != nil {
		return j, err
	}
	j.opens = url
	if e.waits[j.tab] {
		j.plan.call(stopLoading, object{})
	}
	if j.tab != program.NewTab {
		j.plan.wake()
	}
	j.plan.open(url)
	j.plan.look(a, j.view)
	return j, nil
}

// carryOut runs the job and reads what came of it.
func (e *Engine) carryOut(ctx context.Context, j job) (Result, error) {
	result, err := e.send(ctx, j.plan)
	e.keepTab(j, result)
	if err := j.hasPicked(result); err != nil {
		return Result{}, err
	}
	if err != nil {
		return e.salvage(ctx, j, result, err)
	}
	if result.Stopped {
		return e.waitingFor(j, result), nil
	}
	return e.read(ctx, j, result)
}

// keepTab selects a tab that the program made.
func (e *Engine) keepTab(j job, result program.Result) {
	if result.Tab != "" && (j.tab == program.NewTab || e.selected == "") {
		e.selected = result.Tab
	}
}
