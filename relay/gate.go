package relay

import (
	"context"
	"sync"
)

// gate admits what has a size while there is room, first come, first served.
type gate struct {
	roomMu  sync.Mutex
	room    int
	waiting []*waiter // in the order of their coming
}

// waiter is one who found no room.
type waiter struct {
	size     int
	admitted chan struct{}
}

func newGate(room int) *gate { return &gate{room: room} }

// enter takes room, and waits for it at most until ctx or over ends; size is at most the whole room. Who has
// entered owes leave.
func (g *gate) enter(ctx context.Context, over <-chan struct{}, size int) error {
	w := g.ask(size)
	if w == nil {
		return nil
	}
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
		return g.giveUp(w, ctx.Err())
	case <-over:
		return g.giveUp(w, errBroke)
	}
}

// ask answers nil to who may enter at once.
func (g *gate) ask(size int) *waiter {
	g.roomMu.Lock()
	defer g.roomMu.Unlock()
	if len(g.waiting) == 0 && size <= g.room {
		g.room -= size
		return nil
	}
	w := &waiter{size: size, admitted: make(chan struct{})}
	g.waiting = append(g.waiting, w)
	return w
}

// giveUp leaves the queue; who was admitted meanwhile gives the room back.
func (g *gate) giveUp(w *waiter, why error) error {
	g.roomMu.Lock()
	defer g.roomMu.Unlock()
	for i := range g.waiting {
		if g.waiting[i] == w {
			g.waiting = append(g.waiting[:i], g.waiting[i+1:]...)
			g.admit()
			return why
		}
	}
	g.room += w.size
	g.admit()
	return why
}

func (g *gate) leave(size int) {
	g.roomMu.Lock()
	defer g.roomMu.Unlock()
	g.room += size
	g.admit()
}

// admit lets in who has waited longest. roomMu is held.
func (g *gate) admit() {
	for len(g.waiting) > 0 && g.waiting[0].size <= g.room {
		g.room -= g.waiting[0].size
		close(g.waiting[0].admitted)
		g.waiting[0] = nil
		g.waiting = g.waiting[1:]
	}
}
