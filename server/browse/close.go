package browse

import (
	"context"
	"errors"
	"slices"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// closeTab closes a tab that the session made, the selected one where none is named. What the page says to that is not
// asked. The tab that had opened it is selected then, else the first.
func (e *Engine) closeTab(ctx context.Context, id string) (Result, error) {
	tabs := e.browser.Tabs()
	if id == "" {
		id = e.current(tabs)
	}
	i := slices.IndexFunc(tabs, func(t program.Tab) bool { return t.ID == id })
	closer, ok := e.browser.(tabCloser)
	switch {
	case i < 0:
		return Result{}, noSuchTab()
	case !ok:
		return Result{}, fault.New(fault.Unavailable, "Tabs cannot be closed here", "Leave it open.")
	}
	if err := closer.CloseTab(ctx, id); err != nil {
		return Result{}, notClosed(err)
	}
	e.forgetTab(id)
	if e.selected == id || e.selected == "" {
		e.selected = tabs[i].Opener
	}
	result := e.overview()
	e.selected = result.Tab
	result.Notices = append(result.Notices, "Tab "+id+" is closed; "+selection(result.Tab))
	return result, nil
}

func selection(tab string) string {
	if tab == "" {
		return "no tab is left."
	}
	return tab + " is selected now."
}

func notClosed(err error) error {
	if failed, ok := errors.AsType[*program.Error](err); ok && failed.Code == string(fault.Forbidden) {
		return fault.New(fault.Forbidden, "The tab is the person's own, or another session's", "Only tabs that this session opened can be closed.")
	}
	return err
}

// forgetSeen drops what the session has seen of the page in a tab.
func (e *Engine) forgetSeen(tab string) {
	delete(e.seen, tab)
	delete(e.blind, tab)
	delete(e.found, tab)
}

// forgetTab drops what is known of a tab that is gone.
func (e *Engine) forgetTab(id string) {
	e.forgetSeen(id)
	delete(e.stands, id)
	delete(e.titles, id)
	delete(e.failed, id)
	if s := e.dialogs.open[id]; s != nil {
		s.timer.Stop()
		delete(e.dialogs.open, id)
	}
}
