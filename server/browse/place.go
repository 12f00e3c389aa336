package browse

// place is where an answer stands.
type place struct{ tab, url, title string }

// place notes where the answer stands, and whether the one before it, which the same reader has, said that already.
func (e *Engine) place(a Action, r *Result) {
	now := place{tab: r.Tab, url: r.URL, title: r.Title}
	r.Unmoved = now == e.told && !asksWhere(a)
	e.told = now
}

// asksWhere holds for what is asked in order to know where one is.
func asksWhere(a Action) bool {
	switch a.Action {
	case "open", "new_tab", "back", "forward", "tabs", "select_tab", "status":
		return true
	case "snapshot":
		return a.Cursor == "" && a.Scope == "" && !a.wanted().any()
	}
	return false
}
