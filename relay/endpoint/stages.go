package endpoint

import (
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
	names  []string
	params [][]byte
}

// keep answers false for a stage that was told before.
func (s stages) keep(params []byte) bool {
	var stage struct {
		Frame  string `json:"frameId"`
		Loader string `json:"loaderId"`
		Name   string `json:"name"`
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
