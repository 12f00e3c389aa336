package browse

import "chaperone/server/fault"

// A session that was shown nothing of a page, or a part of it, can still be told what changes: the page as it was is noted
// then, as far as a snapshot would go, without being shown.

// mustNote decides whether the answer notes the page without showing it.
func (e *Engine) mustNote(a Action, tab string, v view) bool {
	switch {
	case a.Action == "open", a.Action == "new_tab" && a.URL != "":
		return v.mode == "none"
	case a.Action == "get_text", a.Action == "snapshot" && a.Cursor == "" && !v.isWhole():
		seen, known := e.seen[tab]
		return !known || seen.isUnread() || e.blind[tab]
	}
	return false
}

// readBase takes the page as it was noted for what later changes are told against. What the session was shown of the same
// document stays that: it must be told what changed since.
func (e *Engine) readBase(r *reading) error {
	at, tab := r.job.plan.base, r.result.Tab
	if at == absent || at >= len(r.ran.Steps) {
		return nil
	}
	shots, err := e.options.decodeShots(tab, r.ran.Steps[at])
	if err != nil {
		return fault.Wrap(err, "the browser answered in another shape")
	}
	now, err := shots.render(e.refs, "", view{})
	if err != nil {
		return err
	}
	delete(e.blind, tab)
	if before, known := e.seen[tab]; known && !before.isUnread() && before.doc == now.doc {
		return nil
	}
	e.refs.forget(tab, shots.alive())
	isText := r.job.action.Action == "get_text"
	now.unshown, now.read = !isText || r.job.about.node != 0, isText || r.job.action.Action == "snapshot"
	e.seen[tab] = now
	return nil
}

// isUnread reports whether nothing of the page is known to its reader: what it was before does not matter then.
func (p page) isUnread() bool { return p.unshown && !p.read }

// noteBlind notes that an action may have changed the page, and was not to show it.
func (e *Engine) noteBlind(j job, tab string) {
	if j.view.mode == "none" && j.plan.base == absent && j.action.Action != "get_text" && j.action.Action != "screenshot" {
		e.blind[tab] = true
	}
}

// restUnshown is told once, with the first changes of a page that was not shown.
const restUnshown = "The rest of the page was never shown: see snapshot."
