package program

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// layout is where a tab's frames stand while one step looks at them.
type layout struct {
	executor *Executor
	frames   map[string]frame // by id
	order    []frame          // the main frame first, every parent before its children
	boxes    map[string]box   // by id; what has been asked already
	leftOut  int              // frames and target sessions that did not answer or are too many
}

// layout asks every reachable target session for its frames. One that does not answer is left out.
func (e *Executor) layout(ctx context.Context) (*layout, error) {
	l := &layout{executor: e, frames: map[string]frame{}, boxes: map[string]box{}}
	tree, err := e.frameTree(ctx, "")
	if err != nil {
		return nil, err
	}
	children := map[string][]frame{}
	gather(children, tree, "")
	l.gatherChildren(ctx, children)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.add(children, "")
	return l, nil
}

// gatherChildren asks the child targets, side by side, and then those that these have announced meanwhile.
func (l *layout) gatherChildren(ctx context.Context, children map[string][]frame) {
	ctx, cancel := context.WithTimeout(ctx, layoutTimeout)
	defer cancel()
	asked := map[string]bool{}
	for {
		fresh := slices.DeleteFunc(l.executor.view.targets(), func(t childTarget) bool { return asked[t.session] })
		batch := fresh[:min(len(fresh), maxFrames-len(asked))]
		if len(batch) == 0 {
			l.leftOut += len(fresh)
			return
		}
		trees := make([]*frameTree, len(batch))
		var asking sync.WaitGroup
		for i, target := range batch {
			asked[target.session] = true
			asking.Go(func() {
				if tree, err := l.executor.childTree(ctx, target); err == nil {
					trees[i] = &tree
				}
			})
		}
		asking.Wait()
		for i, tree := range trees {
			if tree == nil {
				l.leftOut++
				continue
			}
			gather(children, *tree, batch[i].session)
		}
	}
}

// childTree asks a child target, once for its events and its own children.
func (e *Executor) childTree(ctx context.Context, target childTarget) (frameTree, error) {
	if !target.isEnabled {
		if err := e.enable(ctx, target.session); err != nil {
			return frameTree{}, err
		}
		e.view.setEnabled(target.session)
	}
	return e.frameTree(ctx, target.session)
}

// gather files a session's frames beneath their parents.
func gather(children map[string][]frame, tree frameTree, child string) {
	f := frame{place: place{frame: tree.Frame.ID, child: child}, parent: tree.Frame.ParentID}
	if f.parent == "" && child != "" {
		return // a target of its own, no frame of this tab
	}
	children[f.parent] = append(children[f.parent], f)
	for _, inner := range tree.ChildFrames {
		gather(children, inner, child)
	}
}

// add puts a parent's frames in order, each followed by what is inside it.
func (l *layout) add(children map[string][]frame, parent string) {
	for _, f := range children[parent] {
		if _, known := l.frames[f.frame]; known {
			continue
		}
		if len(l.order) == maxFrames {
			l.leftOut++
			continue
		}
		l.frames[f.frame] = f
		l.order = append(l.order, f)
		l.add(children, f.frame)
	}
}

// box finds a frame's place in the tab's viewport through all the frames around it. With an error it answers as much
// of the offset as is known, and no node.
func (l *layout) box(ctx context.Context, f frame) (box, error) {
	if f.parent == "" {
		return box{}, nil
	}
	if known, ok := l.boxes[f.frame]; ok {
		return known, nil
	}
	parent := l.frames[f.parent]
	around, err := l.box(ctx, parent)
	if err != nil {
		return box{X: around.X, Y: around.Y}, err
	}
	own, err := l.executor.owner(ctx, parent.place, f.frame)
	if err != nil {
		return box{X: around.X, Y: around.Y}, err
	}
	at := box{Node: own.Node, X: around.X + own.X, Y: around.Y + own.Y}
	l.boxes[f.frame] = at
	return at, nil
}

// reach takes what was located in a frame through the documents around it into the tab's viewport. Each of them says
// whether the frame is what is hit there.
func (l *layout) reach(ctx context.Context, f frame, value json.RawMessage) (json.RawMessage, error) {
	located, isPoint := readPoint(value)
	at, outermost, inner := located, located, f // outermost: in the viewport of the frame's target session
	for isPoint && f.parent != "" {
		parent := l.frames[f.parent]
		own, err := l.executor.owner(ctx, parent.place, f.frame)
		if err != nil {
			return nil, err
		}
		args, err := encode(map[string]any{"node": own.Node, "x": at.x, "y": at.y})
		if err != nil {
			return nil, err
		}
		answer, err := l.executor.function(ctx, parent.place, functionOver, args)
		if err != nil {
			return nil, err
		}
		if at, isPoint = readPoint(answer); isPoint && parent.child == inner.child {
			outermost = at
		}
		f = parent
	}
	if !isPoint {
		return nil, fault(codeInternal, "what was located has no place")
	}
	if isVeiled(value) {
		if err := l.executor.unveil(ctx, inner.place, outermost.x, outermost.y); err != nil {
			return nil, err
		}
	}
	return located.at(at.x, at.y)
}

// owner asks the page script of the parent's document where a frame's element stands.
func (e *Executor) owner(ctx context.Context, parent place, inner string) (box, error) {
	w, err := e.world(ctx, parent)
	if err != nil {
		return box{}, err
	}
	handle, err := e.ownerHandle(ctx, w, inner)
	if err != nil {
		return box{}, err
	}
	answer, err := e.invoke(ctx, w, functionOwner, map[string]any{"objectId": handle})
	if err != nil {
		delete(w.owners, inner)
		return box{}, err
	}
	var at box
	if json.Unmarshal(answer, &at) != nil {
		return box{}, fault(codeInternal, functionOwner+" did not answer a box")
	}
	return at, nil
}

// ownerHandle is the frame's element as the world of the parent's document sees it.
func (e *Executor) ownerHandle(ctx context.Context, w *world, inner string) (string, error) {
	if handle, known := w.owners[inner]; known {
		return handle, nil
	}
	var element struct {
		BackendNodeID int `json:"backendNodeId"`
	}
	if err := e.ask(ctx, w.child, "DOM.getFrameOwner", map[string]any{"frameId": inner}, &element); err != nil {
		return "", err
	}
	var resolved struct {
		Object remoteObject `json:"object"`
	}
	params := map[string]any{"backendNodeId": element.BackendNodeID, "executionContextId": w.context}
	if err := e.ask(ctx, w.child, "DOM.resolveNode", params, &resolved); err != nil {
		return "", err
	}
	w.owners[inner] = resolved.Object.ObjectID
	return resolved.Object.ObjectID, nil
}
