package endpoint

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// How much of a domain's state is kept for clients that enable it late; beyond, the oldest is forgotten.
const (
	maxKept      = 4096
	maxKeptBytes = 8 << 20
	// maxLines is for what is only a log.
	maxLines = 100
)

const workerLoaded = "Inspector.workerScriptLoaded"

// told is an event that can be told again.
type told struct {
	key    string
	method string
	params []byte
}

// shelf keeps events by key, in the order in which they came.
type shelf struct {
	items []told
	bytes int
	most  int
}

func (s *shelf) put(item told) {
	s.drop(item.key)
	s.items = append(s.items, item)
	s.bytes += len(item.params)
	for len(s.items) > s.most || s.bytes > maxKeptBytes && len(s.items) > 1 {
		s.bytes -= len(s.items[0].params)
		s.items = slices.Delete(s.items, 0, 1)
	}
}

// line keeps an event that has no key.
func (s *shelf) line(method string, params []byte) { s.put(told{"", method, params}) }

func (s *shelf) drop(key string) {
	if key == "" {
		return
	}
	s.items = slices.DeleteFunc(s.items, func(item told) bool {
		if item.key == key {
			s.bytes -= len(item.params)
		}
		return item.key == key
	})
}

func (s *shelf) clear() { s.items, s.bytes = nil, 0 }

// state is what a target's events have told, for clients that come late: each X.enable is answered as Chrome answers
// it in a session of its own. It begins anew with each attachment of the edge.
type state struct {
	waits    bool            // the edge holds new children back
	isOn     map[string]bool // by the key of what switches it on
	contexts shelf
	hidden   map[int64]string // contexts of the page script, with their unique ids
	console  shelf
	log      shelf
	issues   shelf
	sheets   shelf
	scripts  shelf
	stages   stages
	hasFonts bool // Chrome takes font families once
	hasRun   bool // a worker's script has: said once, and there are clients that use no worker before they heard it
	dom      domState
}

func newState() state {
	few, many := shelf{most: maxLines}, shelf{most: maxKept}
	return state{
		contexts: many, console: few, log: few, issues: few, sheets: many, scripts: many, stages: stages{},
		hidden: map[int64]string{}, isOn: map[string]bool{},
	}
}

// keep remembers what an event says. It answers false for one that tells nothing new.
func (s *state) keep(method string, params []byte) bool {
	switch method {
	case "Runtime.executionContextCreated", "Runtime.executionContextDestroyed", "Runtime.executionContextsCleared":
		return s.keepContext(method, params)
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		s.console.line(method, params)
	case "Log.entryAdded":
		s.log.line(method, params)
	case "Audits.issueAdded":
		s.issues.line(method, params)
	case "CSS.styleSheetAdded", "CSS.styleSheetRemoved":
		s.keepSheet(method, params)
	case "Debugger.scriptParsed":
		// Its number never comes twice, and there are too many to look for it.
		s.scripts.line(method, params)
	case "Page.lifecycleEvent":
		return s.stages.keep(params)
	case workerLoaded:
		s.hasRun = true
	case "Page.frameDetached":
		s.stages.drop(params)
	case "DOM.documentUpdated":
		s.sheets.clear()
		s.dom.forget()
	default:
		s.dom.keep(method, params)
	}
	return true
}

// newDocument forgets what was said of the document before.
func (s *state) newDocument() {
	s.log.clear()
	s.issues.clear()
}

// ownWorld begins the names of the worlds that the page script runs in; clients do not see them.
const ownWorld = "chaperone"

func (s *state) keepContext(method string, params []byte) bool {
	var it struct {
		Context struct {
			ID     int64  `json:"id"`
			Unique string `json:"uniqueId"`
			Name   string `json:"name"`
		} `json:"context"`
		ID int64 `json:"executionContextId"`
	}
	if json.Unmarshal(params, &it) != nil {
		return false
	}
	switch {
	case method == "Runtime.executionContextsCleared":
		s.newDocument()
		s.contexts.clear()
		s.console.clear()
		s.scripts.clear()
		clear(s.hidden)
	case method == "Runtime.executionContextDestroyed":
		_, isHidden := s.hidden[it.ID]
		delete(s.hidden, it.ID)
		s.contexts.drop(strconv.FormatInt(it.ID, 10))
		return !isHidden
	case strings.HasPrefix(strings.ToLower(it.Context.Name), ownWorld):
		s.hidden[it.Context.ID] = it.Context.Unique
		return false
	default:
		s.contexts.put(told{strconv.FormatInt(it.Context.ID, 10), method, params})
	}
	return true
}

// contexts are those that a command names.
type contexts struct {
	ID         int64  `json:"contextId"`
	Execution  int64  `json:"executionContextId"`
	Unique     string `json:"uniqueContextId"`
	areUnknown bool   // it may name any
}

func contextsIn(params []byte) contexts {
	var named contexts
	if bytes.Contains(params, []byte("ontextId")) && json.Unmarshal(params, &named) != nil {
		named.areUnknown = true
	}
	return named
}

// isHidden reports whether a command names a context that clients do not see.
func (s *state) isHidden(named contexts) bool {
	if len(s.hidden) > 0 && named.areUnknown {
		return true
	}
	for id, unique := range s.hidden {
		if id == named.ID || id == named.Execution || unique != "" && unique == named.Unique {
			return true
		}
	}
	return false
}

func (s *state) keepSheet(method string, params []byte) {
	var sheet struct {
		Header struct {
			ID string `json:"styleSheetId"`
		} `json:"header"`
		ID string `json:"styleSheetId"`
	}
	if json.Unmarshal(params, &sheet) != nil {
		return
	}
	if method == "CSS.styleSheetRemoved" {
		s.sheets.drop(sheet.ID)
		return
	}
	s.sheets.put(told{sheet.Header.ID, method, params})
}

// replay tells an attachment what it would have been told, had it enabled a domain first.
func (r *router) replay(a *attachment, key string) {
	if !a.isLive() {
		return
	}
	s := &a.target.state
	switch key {
	case "Runtime" + enableSuffix:
		a.tellAll(s.contexts, s.console)
	case "Log" + enableSuffix:
		a.tellAll(s.log)
	case "Audits" + enableSuffix:
		a.tellAll(s.issues)
	case "CSS" + enableSuffix:
		a.tellAll(s.sheets)
	case "Debugger" + enableSuffix:
		a.tellAll(s.scripts)
	case keyLifecycle:
		for _, params := range s.stages.all() {
			a.client.send(againFrame(a.session, "Page.lifecycleEvent", params))
		}
	}
}

// tellRun says to who attached to a worker late that its script has run.
func (a *attachment) tellRun(key string) {
	if key == "Runtime"+enableSuffix && a.target.state.hasRun && !a.knowsRun && a.isLive() {
		a.knowsRun = true
		a.client.send(eventFrame(a.session, workerLoaded, nil))
	}
}

func (a *attachment) tellAll(shelves ...shelf) {
	for _, s := range shelves {
		for _, item := range s.items {
			a.client.send(againFrame(a.session, item.method, item.params))
		}
	}
}

// forgetDomain drops what a domain told, when nobody has it enabled any more and it will tell all of it again.
func (s *state) forgetDomain(key string) {
	delete(s.isOn, key)
	switch key {
	case "Log" + enableSuffix:
		s.log.clear()
	case "Audits" + enableSuffix:
		s.issues.clear()
	case "CSS" + enableSuffix:
		s.sheets.clear()
	case "Debugger" + enableSuffix:
		s.scripts.clear()
	}
}
