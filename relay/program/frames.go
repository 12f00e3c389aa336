package program

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

const (
	// What all frames beside the main one may take together: to tell of the frames in them, until they have answered,
	// and until their places are known. Those of different target sessions are asked side by side, so that a stuck one
	// costs no other.
	layoutTimeout = time.Second
	readTimeout   = 2500 * time.Millisecond
	placeTimeout  = 3 * time.Second
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
		all, err := e.eachFrame(ctx, s.Run, args)
		if err != nil || s.Pick == nil {
			return all, err
		}
		return pick(all, *s.Pick)
	case s.Frame == "" || s.Frame == e.view.mainFrame():
		if s.Run == functionHistory {
			e.view.update(e.view.nav.request) // what it begins, it begins after it has answered
		}
		return e.inMain(ctx, s, args)
	default:
		return e.inFrame(ctx, s, args)
	}
}

// inMain runs a function in the main frame.
func (e *Executor) inMain(ctx context.Context, s Step, args json.RawMessage) (json.RawMessage, error) {
	main := e.main()
	value, err := e.function(ctx, main, s.Run, args)
	if err != nil || s.Run != functionLocate || !isVeiled(value) {
		return value, err
	}
	at, isPoint := readPoint(value)
	if !isPoint {
		return value, nil
	}
	if err := e.unveil(ctx, main, at.x, at.y); err != nil {
		return nil, err
	}
	return value, nil
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
	e.acted = f.place
	value, err := e.function(ctx, f.place, s.Run, args)
	if err != nil {
		return nil, err
	}
	if s.Run == functionLocate {
		return l.reach(ctx, f, value)
	}
	at, err := l.box(ctx, f)
	if err != nil {
		return nil, err
	}
	p, isPoint := readPoint(value)
	if !isPoint {
		return value, nil
	}
	return p.at(p.x+at.X, p.y+at.Y)
}

// eachFrame runs a function in the main frame and then in all others. Only the main frame's failure is one; how many
// of the others are left out stands in its result.
func (e *Executor) eachFrame(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	main := e.main()
	value, err := e.function(ctx, main, name, args)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	l, err := e.layout(ctx)
	if err != nil {
		return nil, err
	}
	values := e.readFrames(ctx, start.Add(readTimeout), l.order[1:], name, args)
	placing, cancel := context.WithDeadline(ctx, start.Add(placeTimeout))
	defer cancel()
	results := []FrameResult{{Frame: main.frame, Value: value, LeftOut: l.leftOut}}
	for i, f := range l.order[1:] {
		if values[i] == nil {
			results[0].LeftOut++
			continue
		}
		// Where the parent cannot tell, the frame is still worth reading.
		at, _ := l.box(placing, f)
		results = append(results, FrameResult{Frame: f.frame, Parent: f.parent, Owner: at.Node, X: at.X, Y: at.Y, Value: values[i]})
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return encode(results)
}

// readFrames runs a function in frames, nil where one did not answer: those of one target session one after the
// other, the sessions side by side.
func (e *Executor) readFrames(ctx context.Context, until time.Time, frames []frame, name string, args json.RawMessage) []json.RawMessage {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	values := make([]json.RawMessage, len(frames))
	sessions := map[string][]int{}
	for i, f := range frames {
		sessions[f.child] = append(sessions[f.child], i)
	}
	var reading sync.WaitGroup
	for _, mine := range sessions {
		reading.Go(func() {
			for _, i := range mine {
				if ctx.Err() != nil {
					return
				}
				values[i], _ = e.function(ctx, frames[i].place, name, args)
			}
		})
	}
	reading.Wait()
	return values
}

// point is an object with numbers x and y, whatever else is in it.
type point struct {
	fields map[string]any
	x, y   float64
}

func readPoint(value json.RawMessage) (point, bool) {
	answer, err := decodeAny(value)
	fields, _ := answer.(map[string]any)
	x, isX := fields["x"].(json.Number)
	y, isY := fields["y"].(json.Number)
	if err != nil || !isX || !isY {
		return point{}, false
	}
	left, errX := x.Float64()
	top, errY := y.Float64()
	return point{fields: fields, x: left, y: top}, errX == nil && errY == nil
}

// at is the same object with another place.
func (p point) at(x, y float64) (json.RawMessage, error) {
	p.fields["x"], p.fields["y"] = x, y
	return encode(p.fields)
}
