package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// frameTimeout bounds what one frame of a page may take, so that a stuck one costs no other.
	frameTimeout = 2 * time.Second
	// maxFrames bounds how many frames a program looks into.
	maxFrames = 64
)

// place is where a frame's document lives.
type place struct {
	frame string
	child string // target session; empty for the page's own
}

// frame is one frame of the tab.
type frame struct {
	place
	parent string // frame id; empty for the main frame
}

// box is where a frame's element stands: its node in the parent's document, its content box in the tab's viewport.
type box struct {
	Node int     `json:"node"`
	X    float64 `json:"x"`
	Y    float64 `json:"y"`
}

// frameTree is CDP's.
type frameTree struct {
	Frame struct {
		ID       string `json:"id"`
		ParentID string `json:"parentId"`
		URL      string `json:"url"`
	} `json:"frame"`
	ChildFrames []frameTree `json:"childFrames"`
}

func (e *Executor) main() place { return place{frame: e.view.mainFrame()} }

func (e *Executor) frameTree(ctx context.Context, child string) (frameTree, error) {
	var reply struct {
		FrameTree frameTree `json:"frameTree"`
	}
	err := e.ask(ctx, child, "Page.getFrameTree", map[string]any{}, &reply)
	return reply.FrameTree, err
}

// run runs a page-script function where the step says.
func (e *Executor) run(ctx context.Context, s Step, args json.RawMessage) (json.RawMessage, error) {
	switch {
	case s.EachFrame:
		return e.eachFrame(ctx, s.Run, args)
	case s.Frame == "" || s.Frame == e.view.mainFrame():
		return e.function(ctx, e.main(), s.Run, args)
	default:
		return e.inFrame(ctx, s, args)
	}
}

// inFrame runs a function in one frame and moves a point that it answers into the tab's viewport.
func (e *Executor) inFrame(ctx context.Context, s Step, args json.RawMessage) (json.RawMessage, error) {
	l, err := e.layout(ctx)
	if err != nil {
		return nil, err
	}
	f, known := l.frames[s.Frame]
	if !known {
		return nil, fault(codeNotFound, "the frame is gone")
	}
	value, err := e.function(ctx, f.place, s.Run, args)
	if err != nil {
		return nil, err
	}
	at, err := l.box(ctx, f)
	if err != nil {
		return nil, err
	}
	return movePoint(value, at)
}

// eachFrame runs a function in the main frame and then in all others. Only the main frame's failure is one.
func (e *Executor) eachFrame(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	main := e.main()
	value, err := e.function(ctx, main, name, args)
	if err != nil {
		return nil, err
	}
	l, err := e.layout(ctx)
	if err != nil {
		return nil, err
	}
	results := []FrameResult{{Frame: main.frame, Value: value}}
	for _, f := range l.order[1:] {
		bounded, cancel := context.WithTimeout(ctx, frameTimeout)
		value, err := e.function(bounded, f.place, name, args)
		if err == nil {
			// Where the parent cannot tell, the frame is still worth reading.
			at, _ := l.box(bounded, f)
			results = append(results, FrameResult{Frame: f.frame, Parent: f.parent, Owner: at.Node, X: at.X, Y: at.Y, Value: value})
		}
		cancel()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return encode(results)
}

// movePoint adds a frame's offset to an object with numbers x and y, and leaves everything else alone.
func movePoint(value json.RawMessage, by box) (json.RawMessage, error) {
	answer, err := decodeAny(value)
	if err != nil {
		return nil, err
	}
	fields, _ := answer.(map[string]any)
	x, isX := fields["x"].(json.Number)
	y, isY := fields["y"].(json.Number)
	if !isX || !isY {
		return value, nil
	}
	left, errX := x.Float64()
	top, errY := y.Float64()
	if err := errors.Join(errX, errY); err != nil {
		return nil, fmt.Errorf("read point: %w", err)
	}
	fields["x"], fields["y"] = left+by.X, top+by.Y
	return encode(fields)
}
