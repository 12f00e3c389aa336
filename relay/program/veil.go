package program

import (
	"context"
	"encoding/json"
	"errors"
	"math"
)

// isVeiled reports whether @locate could not see all of what would be hit: a closed shadow tree may stand there, and
// hide another document or a button of its own. Only the browser can look into one.
func isVeiled(located json.RawMessage) bool {
	var told struct {
		Veiled bool `json:"veiled"`
	}
	return json.Unmarshal(located, &told) == nil && told.Veiled
}

// unveil asks the browser what is hit at a point of a target session's outermost viewport, and the page script of the
// document that located whether a press on that is the press that was meant. It refuses with its reason, or with
// covered where another document would be pressed.
func (e *Executor) unveil(ctx context.Context, f place, x, y float64) error {
	hit, err := e.nodeAt(ctx, f.child, x, y)
	if err != nil || hit.BackendNodeID == 0 {
		return err
	}
	if hit.FrameID != f.frame {
		return fault(codeCovered, "Another document lies over the element.")
	}
	w, err := e.world(ctx, f)
	if err != nil {
		return err
	}
	var resolved struct {
		Object remoteObject `json:"object"`
	}
	err = e.ask(ctx, f.child, "DOM.resolveNode", map[string]any{"backendNodeId": hit.BackendNodeID, "executionContextId": w.context}, &resolved)
	if err != nil {
		return unlessRefused(err) // what a style sheet draws is no node, and holds none
	}
	_, err = e.invoke(ctx, w, functionHit, map[string]any{"objectId": resolved.Object.ObjectID})
	return err
}

type hitNode struct {
	BackendNodeID int    `json:"backendNodeId"`
	FrameID       string `json:"frameId"`
}

// nodeAt looks through closed shadow trees and into frames of the same process. CDP counts from the document's corner.
func (e *Executor) nodeAt(ctx context.Context, child string, x, y float64) (hitNode, error) {
	var layout struct {
		View struct {
			PageX float64 `json:"pageX"`
			PageY float64 `json:"pageY"`
		} `json:"cssVisualViewport"`
	}
	if err := e.ask(ctx, child, "Page.getLayoutMetrics", map[string]any{}, &layout); err != nil {
		return hitNode{}, err
	}
	var hit hitNode
	at := map[string]any{"x": int(math.Floor(x + layout.View.PageX)), "y": int(math.Floor(y + layout.View.PageY))}
	err := e.ask(ctx, child, "DOM.getNodeForLocation", at, &hit)
	return hit, unlessRefused(err)
}

// unlessRefused is nil where the browser refused the command: it does so where there is no node.
func unlessRefused(err error) error {
	if _, refused := errors.AsType[*CallError](err); refused {
		return nil
	}
	return err
}
