package session

import (
	"encoding/json"
	"strings"
	"sync"

	"chaperone/relay/endpoint"
)

// standing is where a child of a tab is: a frame of its own process at its own address, a worker where its parent is.
type standing struct {
	parent  string // the child that announced it, empty for the page
	frame   string // a frame's id; empty for a worker
	address string // a frame's; empty while it is not known
}

// watchedSink remembers where a tab's children are, from what the tab tells and from the frame trees that are asked for.
type watchedSink struct {
	endpoint.Sink
	childrenMu sync.Mutex
	children   map[string]standing
}

func (s *watchedSink) Event(child, method string, params []byte) bool {
	switch method {
	case "Target.attachedToTarget":
		s.attached(child, params)
	case "Target.detachedFromTarget":
		s.detached(params)
	case "Page.frameNavigated":
		s.navigated(child, params)
	}
	return s.Sink.Event(child, method, params)
}

// Reset forgets the children of before.
func (s *watchedSink) Reset(target string) {
	s.childrenMu.Lock()
	clear(s.children)
	s.childrenMu.Unlock()
	s.Sink.Reset(target)
}

func (s *watchedSink) attached(parent string, params []byte) {
	var told struct {
		SessionID  string `json:"sessionId"`
		TargetInfo struct {
			ID   string `json:"targetId"`
			Type string `json:"type"`
			URL  string `json:"url"`
		} `json:"targetInfo"`
	}
	if json.Unmarshal(params, &told) != nil {
		return
	}
	at := standing{parent: parent}
	if told.TargetInfo.Type == "iframe" {
		at.frame, at.address = told.TargetInfo.ID, shown{URL: told.TargetInfo.URL}.address()
	}
	s.childrenMu.Lock()
	defer s.childrenMu.Unlock()
	s.children[told.SessionID] = at
}

func (s *watchedSink) detached(params []byte) {
	var told struct {
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal(params, &told) != nil {
		return
	}
	s.childrenMu.Lock()
	defer s.childrenMu.Unlock()
	delete(s.children, told.SessionID)
}

// shown is as much of a Page.Frame as says where it is.
type shown struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Origin string `json:"securityOrigin"`
}

// address is whose a frame's document is; empty where nobody knows. One without an address of its own has the origin of
// whoever made it, which may be anybody's.
func (f shown) address() string {
	if f.URL == "" || f.URL == ":" || strings.HasPrefix(f.URL, "about:") {
		return f.Origin
	}
	return f.URL
}

func (s *watchedSink) navigated(child string, params []byte) {
	var told struct {
		Frame shown `json:"frame"`
	}
	if json.Unmarshal(params, &told) == nil {
		s.note(child, told.Frame)
	}
}

// reading learns from a child's frame tree before whoever asked for it does.
func (s *watchedSink) reading(child string, reply func([]byte, error)) func([]byte, error) {
	return func(result []byte, err error) {
		var told struct {
			Tree struct {
				Frame shown `json:"frame"`
			} `json:"frameTree"`
		}
		if err == nil && json.Unmarshal(result, &told) == nil {
			s.note(child, told.Tree.Frame)
		}
		reply(result, err)
	}
}

// note takes down where a child's own frame is; what is in that frame, without a process of its own, stands with it.
func (s *watchedSink) note(child string, now shown) {
	s.childrenMu.Lock()
	defer s.childrenMu.Unlock()
	at, ok := s.children[child]
	if !ok || at.frame == "" || at.frame != now.ID {
		return
	}
	at.address = now.address()
	s.children[child] = at
}

// standsAt answers where a child is, empty where nobody knows; isChild is false for what stands with the page.
func (s *watchedSink) standsAt(child string) (address string, isChild bool) {
	s.childrenMu.Lock()
	defer s.childrenMu.Unlock()
	for range len(s.children) + 1 {
		if child == "" {
			return "", false
		}
		at, ok := s.children[child]
		if !ok || at.frame != "" {
			return at.address, true
		}
		child = at.parent
	}
	return "", true
}
