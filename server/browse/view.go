package browse

import "chaperone/server/fault"

// view is which snapshot an answer holds, if any, and what of it was shown before.
type view struct {
	mode string // full, diff (what changed since it was last shown) or none
	full bool
	// scope is the element that it is limited to, and wanted what is looked for; zero for neither.
	scope  element
	wanted wanted
	// given are the lines that earlier answers of the same reading held, and size their characters.
	given []string
	size  int
	doc   string // the document they are of; empty where none was shown
	// notes says that the page as a whole is noted besides, for later changes to be told against.
	notes bool
	// changes says that what is left is the rest of what had changed, of a page with so many lines beyond.
	changes bool
	beyond  int
	// again is what is looked for once more, beside the page.
	again *found
}

// wanted says what a snapshot looks for, instead of the whole page.
type wanted struct{ role, name, text string }

func (a Action) wanted() wanted { return wanted{role: a.Role, name: a.Name, text: a.text()} }

func (w wanted) any() bool { return w != wanted{} }

// isWhole reports whether the view is of the whole page, which is what later differences are told against.
func (v view) isWhole() bool { return v.scope.node == 0 && !v.wanted.any() }

// viewFor decides what of the page the answer shows, and whether it is noted besides.
func (e *Engine) viewFor(a Action, tab string) (view, error) {
	v, err := e.shownBy(a, tab)
	v.notes = e.mustNote(a, tab, v)
	return v, err
}

func (e *Engine) shownBy(a Action, tab string) (view, error) {
	switch {
	case a.Action == "snapshot" && a.Cursor != "":
		return e.viewKept(a, tab)
	case a.Action == "snapshot":
		return e.viewNamed(a, tab)
	case a.Action == "get_text" || a.Action == "screenshot" || a.Snapshot == "none":
		return view{mode: "none"}, nil
	case a.Snapshot == "full" || a.Action == "open" || a.Action == "new_tab":
		return view{mode: "full"}, nil
	}
	seen, shown := e.seen[tab]
	if !shown {
		return view{mode: "full"}, nil
	}
	return view{mode: "diff", full: seen.full, size: min(seen.size(), mostWatched), again: e.lookedForAgain(a, tab)}, nil
}

// viewKept is where an earlier snapshot was cut.
func (e *Engine) viewKept(a Action, tab string) (view, error) {
	rest, err := e.cursors.take(a.Cursor, tab)
	if err != nil || rest.text == nil {
		return rest.view, err
	}
	return view{}, fault.New(fault.BadRequest, "The cursor is one of get_text", "Use it with get_text.")
}

// mostWatched is how many characters of what was shown are looked at for changes, where an agent has read on and on.
const mostWatched = 4 * defaultBudget

// viewNamed is what a snapshot action asks for by itself.
func (e *Engine) viewNamed(a Action, tab string) (view, error) {
	v := view{mode: "full", full: a.Full, wanted: a.wanted()}
	if a.Scope == "" {
		return v, nil
	}
	scope, err := e.byRef(a.Scope, tab)
	v.scope = scope
	return v, err
}

// budget is how many characters the page may describe; 0 for no snapshot.
func (v view) budget() int {
	switch v.mode {
	case "none":
		return 0
	case "diff": // as much as was shown, and some more: what was inserted pushes the rest down
		return max(defaultBudget, v.size+defaultBudget/4)
	}
	if v.full { // where the page's own count ends, an entry may have only a part of its text
		return defaultBudget + v.size + slack
	}
	return defaultBudget + v.size
}

const slack = 1500

// snapshotOf adds the steps that answer the view.
func (p *plan) snapshotOf(v view) {
	switch {
	case v.mode == "none":
	case v.isWhole():
		p.snapshot = p.looked(v)
		p.lookAgainFor(v.again)
	default:
		p.snapshot = p.part(v)
	}
	if v.notes {
		p.base = p.whole(false, defaultBudget)
	}
}

// looked is the whole page, and where changes are told, the text that has come too.
func (p *plan) looked(v view) int {
	if v.mode != "diff" {
		return p.whole(v.full, v.budget())
	}
	return p.runEach("@snapshot", object{"full": v.full, "budget": v.budget(), "news": mostNews})
}

func (p *plan) whole(full bool, budget int) int {
	return p.runEach("@snapshot", object{"full": full, "budget": budget})
}

// part asks for one element, or for what is looked for.
func (p *plan) part(v view) int {
	if v.wanted.any() {
		return p.runEach("@find", object{"role": v.wanted.role, "name": v.wanted.name, "text": v.wanted.text, "budget": v.budget()})
	}
	return p.runEach("@snapshot", object{"full": v.full, "budget": v.budget(), "scope": v.scope.target()})
}
