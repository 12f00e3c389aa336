package relay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"chaperone/relay/program"
)

// answer is a frame that answers a call: its header, and its body unread.
type answer struct {
	head inward
	body []byte
}

// call is one request under way.
type call struct {
	id   int64
	want string // the kind that answers it
	// answers has room for one. A newer picture takes the place of one that nobody has fetched.
	answers chan answer
	// hold is set for what concerns a held tab: its answers are taken by the read loop itself, in their order.
	hold *hold
	// reply takes the answer to a raw command.
	reply func(result []byte, err error)
}

// calls pairs a link's requests with their answers.
type calls struct {
	openMu   sync.Mutex
	open     map[int64]*call
	last     int64
	programs int
	closed   bool // to what concerns held tabs: the link has ended
}

func newCalls() *calls { return &calls{open: map[int64]*call{}} }

// start makes a call that want answers; nil when too many programs are under way.
func (c *calls) start(want string) *call {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	if want == kindResult {
		if c.programs >= maxCalls {
			return nil
		}
		c.programs++
	}
	return c.add(&call{want: want, answers: make(chan answer, 1)})
}

// startFor makes a call of a held tab; nil when the link has ended.
func (c *calls) startFor(h *hold, want string, reply func([]byte, error)) *call {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	if c.closed {
		return nil
	}
	return c.add(&call{want: want, hold: h, reply: reply})
}

// add is called with openMu held.
func (c *calls) add(made *call) *call {
	c.last++
	made.id = c.last
	c.open[made.id] = made
	return made
}

// find answers the call that a is for, nil where it answers nothing, or in another kind.
func (c *calls) find(a answer) *call {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	to := c.open[a.head.ID]
	if to == nil || (a.head.T != to.want && a.head.T != kindError) {
		return nil
	}
	return to
}

// take removes a held tab's call and says whether it was there: whoever took it owes its one answer.
func (c *calls) take(taken *call) bool {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	if c.open[taken.id] != taken {
		return false
	}
	c.remove(taken)
	return true
}

// takeAll takes all calls of a held tab, in the order in which they were made.
func (c *calls) takeAll(h *hold) []*call {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	var taken []*call
	for _, open := range c.open {
		if open.hold == h {
			taken = append(taken, open)
			c.remove(open)
		}
	}
	slices.SortFunc(taken, func(a, b *call) int { return int(a.id - b.id) })
	return taken
}

// remove is called with openMu held.
func (c *calls) remove(taken *call) {
	delete(c.open, taken.id)
	if taken.reply != nil {
		taken.hold.raw.leave(1)
	}
}

// close lets no call of a held tab begin any more.
func (c *calls) close() {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	c.closed = true
}

// finish forgets a call: a later answer to it is dropped.
func (c *calls) finish(done *call) {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	delete(c.open, done.id)
	if done.want == kindResult {
		c.programs--
	}
}

// deliver is called by the read loop alone, with what find has found. Whoever waited may have gone meanwhile.
func (c *calls) deliver(to *call, a answer) {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	if c.open[to.id] != to {
		return
	}
	if a.head.T != kindPicture {
		delete(c.open, a.head.ID) // the last word: what comes after it is dropped
	}
	select {
	case <-to.answers:
	default:
	}
	to.answers <- a
}

// begin sends a request; the caller owes calls.finish.
func (l *link) begin(head outward, body any, want string) (*call, error) {
	made := l.calls.start(want)
	if made == nil {
		return nil, errCrowded()
	}
	head.ID = made.id
	if err := l.post(head, body); err != nil {
		l.calls.finish(made)
		return nil, err
	}
	return made, nil
}

func (l *link) post(head outward, body any) error {
	frame, err := buildFrame(head, body)
	if err != nil {
		return refuse(codeBadRequest, "the program cannot be written as JSON")
	}
	if len(frame) > maxOutward {
		return errTooLarge()
	}
	if l.outbox.put(frame) != nil {
		return errCrowded()
	}
	return nil
}

// errBroke says that the link ended before it answered.
var errBroke = errors.New("relay: the link broke under way")

// await waits for the call's next answer, as long as b lives and the link does.
func (l *link) await(ctx context.Context, c *call, b *Browser) (answer, error) {
	select {
	case a := <-c.answers:
		return a, a.failure()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	case <-b.done:
		return answer{}, b.why
	case <-l.over:
		return l.lastWord(c)
	}
}

// lastWord prefers an answer that came just before the end.
func (l *link) lastWord(c *call) (answer, error) {
	select {
	case a := <-c.answers:
		return a, a.failure()
	default:
		return answer{}, errBroke
	}
}

// failure is what an error frame says.
func (a answer) failure() error {
	if a.head.T != kindError {
		return nil
	}
	return &program.Error{Step: -1, Code: a.head.Code, Message: a.head.Message}
}
