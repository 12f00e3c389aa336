package endpoint

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxWorlds bounds how many names of worlds are kept for a client in a target, and maxWorldName how long each is in JSON;
// beyond, the oldest is forgotten.
const (
	maxWorlds    = 16
	maxWorldName = 512
)

// world is an isolated world that a client made in a target: what it was made with, without the frame.
type world struct {
	name   string
	params map[string]json.RawMessage
}

// makeWorld passes Page.createIsolatedWorld on, and takes down what it made: a document that came while the tab was
// not attached does not have it.
func (r *router) makeWorld(q *request, fields map[string]json.RawMessage) {
	made := worldIn(fields)
	r.passThen(q, func(_ []byte, err error) {
		if err == nil && q.at.isLive() {
			q.at.keepWorld(made)
		}
	})
}

// worldIn is what a command makes, to be made in other frames too.
func worldIn(fields map[string]json.RawMessage) world {
	params := map[string]json.RawMessage{}
	for _, name := range []string{"worldName", "grantUniveralAccess"} { // so it is spelt in the protocol
		if value, ok := fields[name]; ok && len(value) <= maxWorldName {
			params[name] = value
		}
	}
	return world{textOf(params["worldName"]), params}
}

func (a *attachment) keepWorld(made world) {
	if made.name == "" {
		return // nothing leads to it but the number that it had
	}
	a.worlds = slices.DeleteFunc(a.worlds, func(w world) bool { return w.name == made.name })
	a.worlds = append(a.worlds, made)
	if len(a.worlds) > maxWorlds {
		a.worlds = a.worlds[1:]
	}
}

// worldsOf lists the worlds that clients count on in a target, once each: those that they made, and those that their
// scripts bring with every document, as Chrome makes these.
func worldsOf(t *target) []world {
	var all []world
	for _, a := range t.attachments {
		all = append(all, a.worlds...)
	}
	for _, s := range restorable(t) {
		var script struct {
			World string `json:"worldName"`
		}
		if s.isScript() && json.Unmarshal(s.params, &script) == nil && script.World != "" {
			all = append(all, world{script.World, map[string]json.RawMessage{
				"worldName": encode(script.World), "grantUniveralAccess": encode(true), // so it is spelt in the protocol
			}})
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(w world) bool {
		isKnown := seen[w.name]
		seen[w.name] = true
		return isKnown
	})
}

// bringWorlds makes clients' worlds in the frames that are there and do not have them: a script acts only on the next
// document, and whoever waits for a world would wait until then.
func (h *hold) bringWorlds(g *gate) {
	page := h.tab.page
	worlds := worldsOf(page)
	if len(worlds) == 0 {
		return
	}
	h.askGated(g, &command{method: "Page.getFrameTree", then: func(result []byte, err error) {
		tree, _, ok := readTree(result)
		if err != nil || !ok {
			return
		}
		has := page.state.worlds()
		for _, frame := range tree.names(nil) {
			for _, w := range worlds {
				if has[place{frame, w.name}] {
					continue
				}
				params := maps.Clone(w.params)
				params["frameId"] = encode(frame)
				h.askGated(g, &command{
					method: "Page.createIsolatedWorld", params: encode(params), then: func([]byte, error) {},
				})
			}
		}
	}})
}

// names lists the frames of a tree, maxFrames at most.
func (f frameTree) names(known []string) []string {
	var names frameNames
	if len(known) >= maxFrames || json.Unmarshal(f.Frame, &names) != nil || names.ID == "" {
		return known
	}
	known = append(known, names.ID)
	for _, child := range f.Children {
		known = child.names(known)
	}
	return known
}

// place is a world in a frame.
type place struct{ frame, world string }

// worlds says where which worlds are, as far as contexts were told.
func (s *state) worlds() map[place]bool {
	has := map[place]bool{}
	for _, item := range s.contexts.items {
		var created struct {
			Context struct {
				Name string `json:"name"`
				Aux  struct {
					Frame string `json:"frameId"`
				} `json:"auxData"`
			} `json:"context"`
		}
		if json.Unmarshal(item.params, &created) == nil {
			has[place{created.Context.Aux.Frame, created.Context.Name}] = true
		}
	}
	return has
}
