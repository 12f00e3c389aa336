package browse

import (
	"context"
	"strconv"
	"strings"
	"time"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// job is one action ready to run.
type job struct {
	action Action
	tab    string
	limit  time.Duration
	began  time.Time
	plan   *plan
	about  element // the element it acts on; zero for none
	view   view
	opens  string // the address, for open
	moved  bool   // the tab stands elsewhere than at the last answer
}

// view is which snapshot the answer holds, if any.
type view struct {
	mode string // full, diff (what changed since it was last shown) or none
	full bool
	from int // lines shown already
	size int // characters shown already
	doc  string
}

// prepare finds the element and writes the program.
func (e *Engine) prepare(ctx context.Context, a Action, j job) (job, error) {
	var err error
	if a.names() {
		if j.about, err = e.find(ctx, a, j.tab, j.limit); err != nil {
			return j, err
		}
	}
	if err := e.guard(ctx, a, j); err != nil {
		return j, err
	}
	if j.view, err = e.viewFor(a, j.tab); err != nil {
		return j, err
	}
	j.plan = newPlan(j.tab, a, j.limit)
	if a.Action == "open" {
		return e.prepareOpen(a, j)
	}
	j.write(a)
	if a.Action == "snapshot" && a.Scope != "" {
		return e.prepareScope(a, j)
	}
	j.plan.look(a, j.budget())
	return j, nil
}

func (j *job) write(a Action) {
	p := j.plan
	switch a.Action {
	case "click":
		p.click(j.about)
	case "fill":
		p.fill(j.about, a.Text)
	case "type":
		p.call("Input.insertText", object{"text": a.Text})
		p.settleFor(quietMS, settleMS)
	case "press":
		all, err := strokes(a.Keys)
		p.err = err
		for _, s := range all {
			p.press(s)
		}
		p.settleFor(quietMS, settleMS)
	case "select":
		p.run("@select", j.about.frame, object{"target": j.about.target(), "expect": j.about.expect(), "values": a.Values})
		p.settleFor(quietMS, settleMS)
	case "scroll":
		p.scrollBy(a, j.named())
	case "back", "forward":
		p.run("@history", "", object{"delta": delta(a)})
		p.settleFor(quietMS, settleMS)
	case "wait":
		p.wait(a)
	case "get_text":
		j.writeText()
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
		j.plan.text = j.plan.runEach("@text", object{"limit": textLimit})
		return
	}
	j.plan.text = j.plan.run("@text", j.about.frame, object{"scope": j.about.target(), "limit": textLimit})
}

func (e *Engine) prepareOpen(a Action, j job) (job, error) {
	url, err := e.options.checkOpen(a.URL)
	if err != nil {
		return j, err
	}
	j.opens = url
	if j.tab != program.NewTab {
		j.plan.wake()
	}
	j.plan.open(url)
	j.plan.look(a, j.budget())
	return j, nil
}

// prepareScope is a snapshot of one element; frames inside it are not looked into.
func (e *Engine) prepareScope(a Action, j job) (job, error) {
	scope, err := e.byRef(a.Scope, j.tab)
	if err != nil {
		return j, err
	}
	j.about = scope
	j.plan.snapshot = j.plan.run("@snapshot", scope.frame, object{"full": j.view.full, "budget": j.budget(), "scope": scope.target()})
	j.plan.look(a, 0)
	return j, nil
}

func (j *job) budget() int {
	if j.view.mode == "none" {
		return 0
	}
	return defaultBudget + j.view.size
}

// viewFor decides what of the page the answer shows.
func (e *Engine) viewFor(a Action, tab string) (view, error) {
	switch {
	case a.Action == "snapshot":
		v := view{mode: "full", full: a.Full}
		return v.at(a.Cursor)
	case a.Action == "get_text" || a.Action == "screenshot" || a.Snapshot == "none":
		return view{mode: "none"}, nil
	case a.Snapshot == "full" || a.Action == "open":
		return view{mode: "full"}, nil
	}
	if _, shown := e.seen[tab]; !shown {
		return view{mode: "full"}, nil
	}
	return view{mode: "diff"}, nil
}

// A cursor says how many lines and characters were shown, of which view of which document.
func (v view) at(cursor string) (view, error) {
	if cursor == "" {
		return v, nil
	}
	parts := strings.Split(cursor, ".")
	if len(parts) != 4 {
		return v, badCursor()
	}
	lines, err1 := strconv.Atoi(parts[0])
	size, err2 := strconv.Atoi(parts[1])
	const most = 4 << 20
	if err1 != nil || err2 != nil || lines < 0 || size < 0 || size > most {
		return v, badCursor()
	}
	v.from, v.size, v.full, v.doc = lines, size, parts[2] == "full", parts[3]
	return v, nil
}

func (v view) cursor(lines, size int, doc string) string {
	kind := "default"
	if v.full {
		kind = "full"
	}
	return strings.Join([]string{strconv.Itoa(lines), strconv.Itoa(size), kind, doc}, ".")
}

func badCursor() error {
	return fault.New(fault.BadRequest, "The cursor is not one that was given out", "Leave it away to start anew.")
}

// carryOut runs the job and reads what came of it.
func (e *Engine) carryOut(ctx context.Context, j job) (Result, error) {
	result, err := e.send(ctx, j.plan)
	e.keepTab(j, result)
	if err != nil {
		return e.salvage(ctx, j, result, err)
	}
	if len(result.Steps) < len(j.plan.Steps) { // the field was set without typing: look at the page now
		return e.lookAgain(ctx, j, result)
	}
	return e.read(ctx, j, result)
}

// keepTab selects a tab that the program made.
func (e *Engine) keepTab(j job, result program.Result) {
	if result.Tab != "" && (j.tab == program.NewTab || e.selected == "") {
		e.selected = result.Tab
	}
}
