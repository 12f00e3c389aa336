package browse

import (
	"slices"
	"strings"
)

// What was looked for on a long page may stand far beyond what is noted of it: an action on that has it looked for again.

// found is a part of a page that was shown by itself.
type found struct {
	view  view // what it was: the scope, or what was looked for
	doc   string
	lines []string
	more  int
	fresh bool // nothing was done in the tab since
}

// noteFound notes what was shown of a page by itself.
func (e *Engine) noteFound(r *reading, now page, shown []string) {
	v := view{mode: "full", full: now.full, scope: r.job.view.scope, wanted: r.job.view.wanted}
	e.found[r.result.Tab] = found{view: v, doc: now.doc, lines: shown, more: now.more + len(now.lines) - len(shown), fresh: true}
}

// mostFound is how many characters of what was found are looked at again.
const mostFound = defaultBudget / 3

// lookedForAgain is what the action may change and what is noted of the page does not hold; nil for nothing.
func (e *Engine) lookedForAgain(a Action, tab string) *found {
	seen, last := e.seen[tab], e.found[tab]
	acts := last.fresh || refsIn(last.lines)[a.Ref]
	last.fresh = false
	e.found[tab] = last
	if !acts || last.doc != seen.doc || seen.more == 0 || (page{lines: last.lines}).size() > mostFound || seen.holdsAll(last.lines) {
		return nil
	}
	return &last
}

// holdsAll reports whether the page has all of the lines, by their refs or by what they say.
func (p page) holdsAll(lines []string) bool {
	refs, said := refsIn(p.lines), map[string]bool{}
	for _, line := range p.lines {
		said[strings.TrimLeft(unplaced(line), " ")] = true
	}
	return !slices.ContainsFunc(lines, func(line string) bool {
		return !refs[refIn(line)] && !said[strings.TrimLeft(unplaced(line), " ")]
	})
}

// lookAgainFor adds the step that looks for it again.
func (p *plan) lookAgainFor(f *found) {
	if f == nil {
		return
	}
	again := f.view
	again.size = page{lines: f.lines}.size() + slack - defaultBudget
	p.far = p.part(again)
}

// readFar tells what changed in what was looked for again; one that is gone tells nothing by itself.
func (e *Engine) readFar(r *reading) (difference, error) {
	at, before := r.job.plan.far, r.job.view.again
	if at == absent || at >= len(r.ran.Steps) || before == nil {
		return difference{}, nil
	}
	shots, err := e.options.decodeShots(r.result.Tab, r.ran.Steps[at])
	if err != nil {
		return difference{}, err
	}
	now, err := shots.render(e.refs, r.job.action.Ref, before.view)
	if err != nil || now.doc != before.doc {
		return difference{}, nil //nolint:nilerr // the scope is gone: the page's own differences tell of it
	}
	e.found[r.result.Tab] = found{view: before.view, doc: now.doc, lines: now.lines, more: now.more}
	far := changes(page{doc: before.doc, lines: before.lines, more: before.more}, now)
	if before.view.wanted.any() { // what does not fit any more is not gone by that
		if len(far.gone)+len(far.lost) > 0 && len(far.lines) == 0 {
			r.notice("What was looked for does not fit any more: look again.")
		}
		far.gone, far.lost = nil, nil
	}
	return far, nil
}

// with adds what changed in another part of the page, and is not told yet.
func (d *difference) with(far difference) {
	told := map[string]bool{}
	for _, line := range d.lines {
		told[strings.TrimLeft(line, " ")] = true
	}
	for _, line := range far.lines {
		if !told[strings.TrimLeft(line, " ")] {
			d.far = append(d.far, line)
		}
	}
	for _, ref := range far.gone {
		if !slices.Contains(d.gone, ref) {
			d.gone = append(d.gone, ref)
		}
	}
	d.lost = append(d.lost, far.lost...)
}
