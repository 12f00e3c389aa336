package program

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Picked is the result of a step that picks: where the one element is, for the steps that act on it.
type Picked struct {
	Frame  string         `json:"frame"` // empty for the main one
	Target map[string]any `json:"target"`
	Expect map[string]any `json:"expect"`
}

// found is what `@find` answers in one frame, as far as picking needs it.
type found struct {
	Doc     string `json:"doc"`
	Matches []struct {
		Node int    `json:"node"`
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"matches"`
}

// pick chooses from what was found in all frames. Where nothing fits, or more than one and none is asked for by number, its
// error has what was found for its detail.
func pick(all json.RawMessage, p Pick) (json.RawMessage, error) {
	var frames []FrameResult
	if err := json.Unmarshal(all, &frames); err != nil {
		return nil, fault(codeInternal, functionFind+" did not answer a list")
	}
	var picked []Picked
	for i, frame := range frames {
		var in found
		if json.Unmarshal(frame.Value, &in) != nil {
			continue
		}
		id := frame.Frame
		if i == 0 {
			id = ""
		}
		for _, m := range in.Matches {
			picked = append(picked, Picked{
				Frame:  id,
				Target: map[string]any{"doc": in.Doc, "node": m.Node},
				Expect: map[string]any{"role": m.Role, "name": m.Name},
			})
		}
	}
	nth := 0
	if p.Nth != nil {
		nth = *p.Nth
	}
	code := codeAmbiguous
	switch {
	case nth >= len(picked):
		code = codeNotFound
	case p.Nth != nil || len(picked) == 1:
		return encode(picked[nth])
	}
	failed := fault(code, fmt.Sprintf("%d elements fit", len(picked)))
	failed.Detail = all
	return nil, failed
}

// checkPick permits it where elements are looked for in each frame.
func checkPick(s Step) *Error {
	switch {
	case s.Pick == nil:
		return nil
	case s.Run != functionFind || !s.EachFrame:
		return refuse(codeBadRequest, "pick belongs to a run of %s in each frame", functionFind)
	case s.Pick.Nth != nil && *s.Pick.Nth < 0:
		return refuse(codeBadRequest, "nth is not negative")
	}
	return nil
}

// framePath is the reference that stands for a frame, empty where an id does.
func framePath(frame string) string {
	path, isRef := strings.CutPrefix(frame, refKey)
	if !isRef {
		return ""
	}
	return path
}

// frameOf is the frame that a step names, by its id or by a reference to an earlier step's result.
func frameOf(frame string, results []json.RawMessage) (string, error) {
	path := framePath(frame)
	if path == "" {
		return frame, nil
	}
	value, err := lookUp(path, results)
	if err != nil {
		return "", err
	}
	id, isText := value.(string)
	if !isText {
		return "", fmt.Errorf("reference %q leads to no frame", path)
	}
	return id, nil
}
