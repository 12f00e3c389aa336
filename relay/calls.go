package relay

import (
	"context"
	"errors"
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
}

// calls pairs a link's requests with their answers.
type calls struct {
	openMu   sync.Mutex
	open     map[int64]*call
	last     int64
	programs int
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
	c.last++
	made := &call{id: c.last, want: want, answers: make(chan answer, 1)}
	c.open[made.id] = made
	return made
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

// deliver is called by the read loop alone. What answers nothing, or in another kind, is dropped.
func (c *calls) deliver(a answer) {
	c.openMu.Lock()
	defer c.openMu.Unlock()
	to := c.open[a.head.ID]
	if to == nil || (a.head.T != to.want && a.head.T != kindError) {
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
