package browse

import "chaperone/server/fault"

// crashTeller is a browser that knows which of its tabs are gone because their pages crashed.
type crashTeller interface {
	HasCrashed(tab string) bool
}

// goneTab says what became of a tab that is not there any more.
func (e *Engine) goneTab(id string) error {
	told := fault.New(fault.TabClosed, "The selected tab was closed or is no longer shared",
		"See tabs, then select_tab or open; or ask the person to share a tab.")
	if teller, ok := e.browser.(crashTeller); ok && teller.HasCrashed(id) {
		told = fault.New(fault.TabClosed, "The page of tab "+id+" crashed, and the tab is closed",
			"Open its address again: that starts a fresh page. See tabs for the others.")
	}
	if stood := e.stands[id]; stood != "" {
		told = told.WithDetail("it stood at " + short(stood, longestLink))
	}
	return told
}
