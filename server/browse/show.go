package browse

import (
	"fmt"
	"slices"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

func (e *Engine) readSnapshot(r *reading) error {
	if r.job.plan.snapshot == absent || r.job.plan.snapshot >= len(r.ran.Steps) {
		return nil
	}
	shots, err := e.options.decodeShots(r.result.Tab, r.ran.Steps[r.job.plan.snapshot])
	if err != nil {
		return fault.Wrap(err, "the browser answered in another shape")
	}
	r.leftOut(shots.frames)
	now, err := shots.render(e.refs, r.job.action.Ref, r.job.view)
	if err != nil {
		return err
	}
	if now.holds {
		r.notice(framesWithheld)
	}
	if r.far, err = e.readFar(r); err != nil {
		return fault.Wrap(err, "the browser answered in another shape")
	}
	if r.job.view.changes {
		e.showOn(r, now)
		return nil
	}
	if !r.job.view.isWhole() {
		e.showPart(r, now)
		return nil
	}
	e.refs.forget(r.result.Tab, shots.alive())
	delete(e.blind, r.result.Tab)
	e.show(r, now)
	return nil
}

// show chooses between the whole page and what changed, and remembers what the session has seen of it.
func (e *Engine) show(r *reading, now page) {
	before, tab := e.seen[r.result.Tab], r.result.Tab
	if r.job.view.mode == "diff" && before.doc == now.doc && before.full == now.full && e.tellDifference(r, before, now) {
		to, _ := common(before, now) // what lies beyond what was shown is not seen by that
		now.more += len(now.lines) - to
		now.lines = now.lines[:to]
		e.seen[tab] = now
		return
	}
	shown := e.part(r, now)
	if before.doc == now.doc && before.full == now.full {
		r.tellBelow(now.news)
	}
	now.more += len(now.lines) - len(shown)
	now.lines = shown
	e.seen[tab] = now
}

// tellDifference shows what changed, unless that would be most of the page anyhow.
func (e *Engine) tellDifference(r *reading, before, now page) bool {
	const short = 600 // characters: always worth saying by themselves
	d := changes(before, now)
	d.with(r.far)
	d.gone = slices.DeleteFunc(d.gone, func(ref string) bool { return !e.refs.shown[ref] })
	if before.unshown { // what was never seen is not missed
		d.lost, d.moved = r.far.lost, false
	}
	most := page{lines: d.lines}.size() > short && len(d.lines)*10 > len(now.lines)*6
	if most || d.moved && now.size() <= fewEnough {
		return false
	}
	if d.moved {
		r.notice("Lines stand in another order now: take a snapshot to see it.")
	}
	r.tellGone(d.gone, now)
	now.news = now.news.beside(d)
	d.lost = append(d.lost, now.news.left(d.lost)...)
	if len(d.lines)+len(d.far)+len(d.lost)+len(now.news.lines) > 0 {
		e.showChanges(r, d, now)
	} else if len(d.gone) == 0 && !d.moved {
		r.tellSame(before, now)
	}
	r.tellMore(now.news)
	if len(now.news.lines) == 0 {
		r.turned = d.sole(before)
	}
	if before.unshown {
		r.notice(restUnshown)
	}
	return true
}

// mostChanges is how many characters of changes are shown at once.
const mostChanges = defaultBudget / 2

// showChanges shows them as far as the budget goes; the rest is read on as it stands by then.
func (e *Engine) showChanges(r *reading, d difference, now page) {
	shown, left := cut(d.lines, mostChanges)
	text := strings.Join(slices.Concat(now.news.among(shown, d.at), d.far, d.leftBehind()), "\n")
	r.result.Snapshot = &Snapshot{Text: text, Mode: "diff"}
	if left > 0 {
		v := view{mode: "full", full: now.full, given: d.unpicked(now.lines, len(shown)), doc: now.doc, size: now.size(), changes: true, beyond: now.more}
		r.result.Snapshot.More = &More{Cursor: e.cursors.keep(rest{tab: r.result.Tab, view: v}), Lines: left}
	}
}

// showOn goes on with changes that were cut.
func (e *Engine) showOn(r *reading, now page) {
	v := r.job.view
	if v.doc != now.doc {
		r.notice("The page is another one since the cursor was given out: take a snapshot.")
		return
	}
	rest := changes(page{lines: v.given, more: v.beyond}, now)
	rest.lost = nil // was told at first
	if len(rest.lines) == 0 {
		r.notice("Nothing is left of what had changed.")
		return
	}
	e.showChanges(r, rest, now)
}

// tellSame says that nothing has changed, which after a scroll is no news, and what was not looked at.
func (r *reading) tellSame(before, now page) {
	said := "Nothing that a snapshot shows has changed"
	switch {
	case r.job.action.Action == "scroll", now.news.more > 0:
		return
	case before.unshown && before.more > 0:
		said += " in the first part of the page"
	case before.more > 0:
		said += " in the part of the page that was shown"
	}
	switch {
	case now.news.known:
		said += ", nor has text come so far"
	case !before.full:
		said += "; plain text may have: see get_text"
	}
	r.notice(said + ".")
}

// tellGone lists refs that are not there any more; of a page that was cut they may have moved out of what is shown.
func (r *reading) tellGone(refs []string, now page) {
	switch {
	case len(refs) == 0:
	case now.more > 0:
		r.notice("Gone from what was shown: " + ranges(refs) + ".")
	default:
		r.notice("Gone: " + ranges(refs) + ".")
	}
}

// fewEnough characters of a page are shown whole where its lines have changed places.
const fewEnough = 3000

// leftBehind are the lines that are gone without another in their place, where they are few.
func (d difference) leftBehind() []string {
	const few, longest = 3, 100
	var lines []string
	for _, line := range d.lost[:min(few, len(d.lost))] {
		lines = append(lines, "- gone: "+program.Clip(strings.TrimPrefix(line, "- "), longest))
	}
	if more := len(d.lost) - few; more > 0 {
		lines = append(lines, fmt.Sprintf("- gone: %d more lines", more))
	}
	return lines
}

// ranges writes refs shortly: e3, e7-e9.
func ranges(refs []string) string {
	const most = 20
	numbers := make([]int, 0, len(refs))
	for _, ref := range refs {
		var n int
		if _, err := fmt.Sscanf(ref, "e%d", &n); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var said []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		one := fmt.Sprintf("e%d", numbers[i])
		if end > i {
			one += fmt.Sprintf("-e%d", numbers[end])
		}
		said = append(said, one)
		i = end + 1
	}
	if len(said) > most {
		said = append(said[:most], fmt.Sprintf("and %d more", len(said)-most))
	}
	return strings.Join(said, ", ")
}

// showPart shows one element, or what was looked for.
func (e *Engine) showPart(r *reading, now page) {
	shown := e.part(r, now)
	e.noteFound(r, now, shown)
	if len(shown) == 0 && r.job.view.wanted.any() {
		r.notice(nothingFits(e.seen[r.result.Tab]))
	}
}

// nothingFits also says which panes may hold more than the page has made yet.
func nothingFits(seen page) string {
	var panes []string
	for _, line := range seen.lines {
		if ref := refIn(line); ref != "" && strings.Contains(line, " [scrollable]") {
			panes = append(panes, ref)
		}
	}
	if len(panes) == 0 {
		return "Nothing on the page fits."
	}
	return "Nothing on the page fits; a pane that scrolls may make more: " + ranges(panes) + "."
}

// part shows what of the page was not shown in this reading, as far as the budget goes, and answers what was shown by now.
func (e *Engine) part(r *reading, now page) []string {
	v := r.job.view
	if v.mode == "diff" { // that would have been most of the page
		v.mode, v.size = "full", 0
	}
	if v.doc != "" && v.doc != now.doc {
		v.given, v.size = nil, 0
		r.notice("The page is another one since the cursor was given out: this is its start.")
	}
	lines, changed := unshown(v.given, now.lines)
	if changed {
		r.notice("The page has changed since the cursor was given out: what is new further up stands here too.")
	}
	shown, left := cut(lines, defaultBudget)
	text := strings.Join(condensed(shown), "\n")
	r.result.Snapshot = &Snapshot{Text: text, Mode: "full"}
	switch {
	case text == "" && r.state.URL == blankPage:
		r.notice("This is a blank page: open an address.")
	case text == "" && v.isWhole() && !now.full:
		r.notice("There is nothing to operate on the page; read its text.")
	}
	v.given, v.doc = append(slices.Clip(v.given), shown...), now.doc
	v.size += page{lines: shown}.size()
	if left += now.more; left > 0 {
		r.result.Snapshot.More = &More{Cursor: e.cursors.keep(rest{tab: r.result.Tab, view: v}), Lines: left}
	}
	return v.given
}

// unshown are the lines that were not given yet, and whether the page is no longer what it was when they were.
func unshown(given, lines []string) (rest []string, changed bool) {
	if len(given) <= len(lines) && slices.EqualFunc(given, lines[:len(given)], sameLine) {
		return lines[len(given):], false
	}
	for i, fresh := range freshLines(given, lines) {
		if fresh {
			rest = append(rest, lines[i])
		}
	}
	return rest, true
}

func sameLine(a, b string) bool { return unplaced(a) == unplaced(b) }
