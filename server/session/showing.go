package session

import "time"

// calm is how long one tab is shown before clients' commands in another take the picture there: clients may work in
// several tabs at once, and each move begins a cast anew. An action moves it at once.
const calm = 2 * time.Second

// showing is which tab viewers of a session see. Its owner's lock guards it.
type showing struct {
	tab   string
	since time.Time
	next  string        // where clients went while it was too early to follow
	moved chan struct{} // closed when tab is another
}

func newShowing() showing { return showing{moved: make(chan struct{})} }

func (s *showing) move(tab string, now time.Time) {
	s.next = ""
	if tab == s.tab {
		return
	}
	s.tab, s.since = tab, now
	close(s.moved)
	s.moved = make(chan struct{})
}

// drift follows a client's command, later if it is too early. Most commands go where the one before went, and only
// the others look at the clock.
func (s *showing) drift(tab string, clock func() time.Time) {
	if tab == s.tab {
		s.next = ""
		return
	}
	s.next = tab
	s.catchUp(clock())
}

// catchUp goes where clients went, if it is time.
func (s *showing) catchUp(now time.Time) {
	if s.next != "" && (s.tab == "" || now.Sub(s.since) >= calm) {
		s.move(s.next, now)
	}
}
