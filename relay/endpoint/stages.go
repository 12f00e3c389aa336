package endpoint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// maxFrames bounds how many frames' stages are kept.
const maxFrames = 1024

// stages are the lifecycle events of each frame's present document, by frame. Chrome tells them again to whoever
// switches them on, in one session to all: what is known already is not told twice.
type stages map[string]*passed

type passed struct {
	loader string
	at     float64 // when the newest was, in Chrome's seconds
	names  []string
	params [][]byte
}

// keep answers false for a stage that was told before.
func (s stages) keep(params []byte) bool {
	var stage struct {
		Frame  string  `json:"frameId"`
		Loader string  `json:"loaderId"`
		Name   string  `json:"name"`
		At     float64 `json:"timestamp"`
	}
	if json.Unmarshal(params, &stage) != nil {
		return false
	}
	frame := s[stage.Frame]
	if frame == nil || frame.loader != stage.Loader || stage.Name == "init" { // document.open begins anew too
		if frame == nil && len(s) >= maxFrames {
			return true
		}
		frame = &passed{loader: stage.Loader}
		s[stage.Frame] = frame
	}
	if slices.Contains(frame.names, stage.Name) {
		return false
	}
	frame.at = stage.At
	frame.names, frame.params = append(frame.names, stage.Name), append(frame.params, params)
	return true
}

func (s stages) drop(params []byte) {
	var detached struct {
		Frame string `json:"frameId"`
	}
	if json.Unmarshal(params, &detached) == nil {
		delete(s, detached.Frame)
	}
}

func (s stages) all() [][]byte {
	var all [][]byte
	for _, frame := range slices.Sorted(maps.Keys(s)) {
		all = append(all, s[frame].params...)
	}
	return all
}

// afterRestore follows a page that came back from Chrome's back-forward cache. Chrome tells of no stages then and of
// no load nor of a new document, and clients that wait for one would wait for ever: they are told what the page has behind it.
func (r *router) afterRestore(t *target, method string, params []byte) {
	if method != "Page.frameNavigated" || t.child != "" || !bytes.Contains(params, []byte(`"BackForwardCacheRestore"`)) {
		return
	}
	var restored struct {
		Frame frameNames `json:"frame"`
		Type  string     `json:"type"`
	}
	if json.Unmarshal(params, &restored) != nil || restored.Type != "BackForwardCacheRestore" || restored.Frame.Parent != "" {
		return
	}
	var at float64
	for _, frame := range t.state.stages {
		at = max(at, frame.at)
	}
	for _, name := range []string{"init", "commit", "DOMContentLoaded", "load", "networkAlmostIdle", "networkIdle"} {
		stage := encode(map[string]any{
			"frameId": restored.Frame.ID, "loaderId": restored.Frame.Loader, "name": name, "timestamp": at,
		})
		if t.state.keep("Page.lifecycleEvent", stage) {
			r.deliver(t, "Page.lifecycleEvent", stage)
		}
		if event := eventOf(name); event != "" {
			r.deliver(t, event, encode(map[string]float64{"timestamp": at}))
		}
	}
	t.state.keep("DOM.documentUpdated", nil)
	r.deliver(t, "DOM.documentUpdated", nil)
}

// eventOf is the event of its own that a main frame's stage has.
func eventOf(stage string) string {
	switch stage {
	case "DOMContentLoaded":
		return "Page.domContentEventFired"
	case "load":
		return "Page.loadEventFired"
	default:
		return ""
	}
}
