package browse

import (
	"cmp"
	"slices"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// overview tells of all tabs without touching any.
func (e *Engine) overview() Result {
	tabs := e.browser.Tabs()
	result := Result{Tab: e.current(tabs), Tabs: make([]program.Tab, 0, len(tabs)), Dialogs: []program.Dialog{}, Notices: []string{}}
	for _, tab := range tabs {
		tab.URL = e.address(tab.ID, tab.URL)
		tab = cleanTab(tab)
		result.Tabs = append(result.Tabs, tab)
		if tab.ID == result.Tab {
			result.URL, result.Title = tab.URL, tab.Title
		}
	}
	return result
}

func cleanTab(tab program.Tab) program.Tab {
	tab.URL, tab.Title, tab.Suspended = short(tab.URL, longestURL), short(tab.Title, longestTitle), short(tab.Suspended, longestWhy)
	return tab
}

func (e *Engine) selectTab(id string) (Result, error) {
	if !has(e.browser.Tabs(), id) {
		return Result{}, noSuchTab()
	}
	e.selected = id
	return e.overview(), nil
}

// current is the selected tab, or the first when that is gone or none was selected; empty without tabs.
func (e *Engine) current(tabs []program.Tab) string {
	switch {
	case e.selected != "" && has(tabs, e.selected):
		return e.selected
	case len(tabs) > 0:
		return tabs[0].ID
	}
	return ""
}

// tabFor is the tab an action acts in. Only open and new_tab make one.
func (e *Engine) tabFor(a Action) (string, error) {
	tabs, selected := e.browser.Tabs(), e.selected
	switch {
	case a.Tab != "" && !has(tabs, a.Tab):
		return "", noSuchTab()
	case a.Action == "new_tab":
		return program.NewTab, nil
	case a.Action == "open":
		return cmp.Or(a.Tab, e.current(tabs), program.NewTab), nil
	case a.Tab == "" && e.lostSelected(tabs):
		return "", e.goneTab(selected)
	}
	id := cmp.Or(a.Tab, e.current(tabs))
	if id == "" {
		return "", fault.New(fault.NotFound, "There is no tab yet", "Open an address first. A tab that the person shared is in a session of backend shared, and there only while no other session uses it.")
	}
	if i := slices.IndexFunc(tabs, func(t program.Tab) bool { return t.ID == id }); i >= 0 && !e.options.allows(e.address(id, tabs[i].URL)) {
		return "", strayed("The tab stands on a domain that the project does not allow")
	}
	return id, nil
}

// lostSelected reports, once, that the selected tab is gone: to go on in another must be a choice.
func (e *Engine) lostSelected(tabs []program.Tab) bool {
	if e.selected == "" || has(tabs, e.selected) {
		return false
	}
	e.selected = ""
	return true
}

func has(tabs []program.Tab, id string) bool {
	return slices.ContainsFunc(tabs, func(tab program.Tab) bool { return tab.ID == id })
}

func noSuchTab() error {
	return fault.New(fault.TabClosed, "There is no such tab in this session", hint(fault.TabClosed))
}

// hasMoved reports whether the tab has gone elsewhere by itself since an answer told where it stands.
func (e *Engine) hasMoved(id string) bool {
	stood, told := e.stands[id]
	if stood == e.failed[id] {
		return false // what a browser calls its own page about that differs
	}
	for _, tab := range e.browser.Tabs() {
		if tab.ID == id {
			return told && tab.URL != "" && !isSamePlace(e.address(id, tab.URL), stood)
		}
	}
	return false
}
