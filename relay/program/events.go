package program

import (
	"encoding/json"
	"slices"
)

// restored is the type of a navigation that brings back a document as it was left: it does not load.
const restored = "BackForwardCacheRestore"

// eventParams are the fields of all the events that the view reads.
type eventParams struct {
	Frame struct {
		ID       string `json:"id"`
		ParentID string `json:"parentId"`
		LoaderID string `json:"loaderId"`
		URL      string `json:"url"`
	} `json:"frame"`
	FrameID        string `json:"frameId"`
	LoaderID       string `json:"loaderId"`
	NavigationType string `json:"navigationType"`
	Disposition    string `json:"disposition"`
	URL            string `json:"url"`
	Type           string `json:"type"`
	Message        string `json:"message"`
	DefaultPrompt  string `json:"defaultPrompt"`
	Result         bool   `json:"result"`
	SessionID      string `json:"sessionId"`
	TargetInfo     struct {
		TargetID string `json:"targetId"`
		Type     string `json:"type"`
	} `json:"targetInfo"`
}

// apply takes note of one event. Events that are none of the view's business, or that do not decode, change nothing.
func (v *view) apply(session, method string, raw json.RawMessage) {
	if isRequest(method) && session == "" {
		v.applyNetwork(method, raw)
	}
	if !isRead(method) && !v.remembers(method) {
		return
	}
	var p eventParams
	if len(raw) > 0 && json.Unmarshal(raw, &p) != nil {
		return
	}
	v.update(func() {
		if _, known := v.seen[method]; !known && session == "" && v.remembers(method) {
			v.seen[method] = slices.Clone(raw)
		}
		v.applyFrame(session, method, p)
		if session == "" {
			v.applyMain(method, p)
			v.applyDialog(method, p)
		}
	})
}

// applyNetwork takes note of one event of a request.
func (v *view) applyNetwork(method string, raw json.RawMessage) {
	var p requestEvent
	if json.Unmarshal(raw, &p) == nil {
		v.update(func() { v.applyRequest(method, p) })
	}
}

func isRead(method string) bool {
	switch method {
	case "Page.frameNavigated", "Page.frameDetached", "Page.navigatedWithinDocument", "Page.loadEventFired", "Page.domContentEventFired",
		"Page.frameRequestedNavigation", "Page.frameStartedNavigating", "Page.frameStartedLoading", "Page.frameStoppedLoading",
		"Page.javascriptDialogOpening", "Page.javascriptDialogClosed", "Target.attachedToTarget", "Target.detachedFromTarget":
		return true
	default:
		return false
	}
}

// applyFrame keeps the worlds and the child targets true.
func (v *view) applyFrame(session, method string, p eventParams) {
	switch method {
	case "Page.frameStoppedLoading":
		v.requests.arrive(p.FrameID)
	case "Page.frameNavigated":
		delete(v.worlds, p.Frame.ID)
	case "Page.frameDetached":
		v.requests.arrive(p.FrameID)
		if w := v.worlds[p.FrameID]; w != nil && w.child == session {
			delete(v.worlds, p.FrameID)
		}
	case "Target.attachedToTarget":
		v.requests.arrive(p.TargetInfo.TargetID)
		if p.TargetInfo.Type == "iframe" && p.SessionID != "" {
			v.children = append(v.children, childTarget{session: p.SessionID, frame: p.TargetInfo.TargetID, parent: session})
		}
	case "Target.detachedFromTarget":
		v.dropChild(p.SessionID)
	}
}

// dropChild forgets a child target and all that were announced in it.
func (v *view) dropChild(session string) {
	gone := map[string]bool{session: true}
	v.children = slices.DeleteFunc(v.children, func(c childTarget) bool {
		gone[c.session] = gone[c.session] || gone[c.parent]
		return gone[c.session]
	})
	for frame, w := range v.worlds {
		if gone[w.child] {
			delete(v.worlds, frame)
		}
	}
}

// applyMain follows the main frame's navigations.
func (v *view) applyMain(method string, p eventParams) {
	switch {
	case method == "Page.loadEventFired":
		v.nav.load()
	case method == "Page.domContentEventFired":
		v.nav.parse()
	case method == "Page.frameNavigated" && p.Frame.ParentID == "":
		v.main, v.address = p.Frame.ID, p.Frame.URL
		v.nav.commit(p.Frame.LoaderID)
		v.requests.leave()
		if p.Type == restored {
			v.nav.stop()
		}
	case p.FrameID == v.main:
		v.applyNavigation(method, p)
	}
}

// applyNavigation follows what is told of the main frame by its id.
func (v *view) applyNavigation(method string, p eventParams) {
	switch method {
	case "Page.frameRequestedNavigation":
		if p.Disposition == "" || p.Disposition == "currentTab" {
			v.nav.request()
		}
	case "Page.frameStartedNavigating":
		if p.NavigationType != "sameDocument" && p.NavigationType != "historySameDocument" {
			v.nav.start(p.LoaderID)
		}
	case "Page.frameStartedLoading":
		v.nav.startLoading()
	case "Page.navigatedWithinDocument":
		v.address = p.URL
		v.nav.move()
	case "Page.frameStoppedLoading":
		v.nav.stop()
	}
}

// applyDialog records a dialog as it opens; what became of it is known when it closes.
func (v *view) applyDialog(method string, p eventParams) {
	switch method {
	case "Page.javascriptDialogOpening":
		if len(v.dialogs) == maxRecordedDialogs {
			v.dialogs = slices.Delete(v.dialogs, 0, 1)
		}
		v.dialogs = append(v.dialogs, Dialog{Type: p.Type, Message: p.Message, Default: p.DefaultPrompt})
		v.isBlocked = true
		v.opened++
	case "Page.javascriptDialogClosed":
		if v.isBlocked {
			v.dialogs[len(v.dialogs)-1].Accepted = p.Result
		}
		v.isBlocked = false
	}
}
