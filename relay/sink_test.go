package relay_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"chaperone/relay"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
)

// sink keeps what a held tab told, a line each, and the replies with it, in their order.
type sink struct {
	mu    sync.Mutex
	lines []string
	words []string // of failures and of falling asleep
	// isFull turns events away.
	isFull bool
}

func (s *sink) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.words = append(s.words, err.Error())
}

// mayBeDone says of each failure whether it claims that what was asked may have been done.
func (s *sink) mayBeDone() []bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims := make([]bool, 0, len(s.words))
	for _, words := range s.words {
		claims = append(claims, strings.Contains(words, "may have been done"))
	}
	return claims
}

func (s *sink) add(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " "))
}

func (s *sink) Event(child, method string, params []byte) bool {
	s.add("event %s %s %s", child, method, params)
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isFull
}

// fill lets no event be taken any more, or again.
func (s *sink) fill(isFull bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isFull = isFull
}

func (s *sink) Asleep(why *program.Error) {
	s.note(why)
	s.add("asleep %s", why.Code)
}

func (s *sink) Reset(target string) { s.add("reset %s", target) }

func (s *sink) Gone(why *program.Error) { s.add("gone %s", why.Code) }

// forget drops a line once everything has been told.
func (s *sink) forget(line string) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = slices.DeleteFunc(s.lines, func(l string) bool { return l == line })
}

// reply is what a Send's answer is noted as.
func (s *sink) reply(name string) func([]byte, error) {
	return func(result []byte, err error) {
		var refused *program.CallError
		switch {
		case errors.As(err, &refused):
			s.add("%s refused %d %s", name, refused.Code, refused.Message)
		case err != nil:
			s.note(err)
			s.add("%s failed %s", name, code(err))
		default:
			s.add("%s %s", name, result)
		}
	}
}

func (s *sink) want(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got, want := strings.Join(s.lines, "\n"), strings.Join(lines, "\n"); got != want {
		t.Errorf("the sink heard\n%s\nwant\n%s", got, want)
	}
	s.lines = nil
}

// held is what Browser.Hold answered.
type held struct {
	wire endpoint.Wire
	err  error
}

func hold(ctx context.Context, b *relay.Browser, tab string, s endpoint.Sink) <-chan held {
	answered := make(chan held, 1)
	go func() {
		wire, err := b.Hold(ctx, tab, s)
		answered <- held{wire, err}
	}()
	return answered
}

// held is a tab that e has attached for a session.
func (w *world) held(e *extension, b *relay.Browser, tab string) (endpoint.Wire, *sink) {
	w.t.Helper()
	s := &sink{}
	answered := hold(w.t.Context(), b, tab, s)
	e.attach(e.want("hold"), "T-"+tab)
	got := <-answered
	if got.err != nil {
		w.t.Fatalf("hold %s: %v", tab, got.err)
	}
	return got.wire, s
}

func (e *extension) attach(f frame, target string) {
	e.t.Helper()
	e.send(object{"t": "held", "id": f.id(), "tab": f.head["tab"], "target": target})
}

func (e *extension) event(tab, child, method, params string) {
	e.t.Helper()
	head := object{"t": "event", "tab": tab, "method": method}
	if child != "" {
		head["child"] = child
	}
	if params == "" {
		e.send(head)
		return
	}
	e.send(head, params)
}

func (e *extension) reply(f frame, result string) {
	e.t.Helper()
	e.send(object{"t": "reply", "id": f.id()}, result)
}

// send sends "METHOD" to the page, or "CHILD METHOD", and has its answer noted by the method.
func send(t *testing.T, wire endpoint.Wire, s *sink, command, params string) {
	t.Helper()
	child, method, ok := strings.Cut(command, " ")
	if !ok {
		child, method = "", command
	}
	if err := wire.Send(t.Context(), child, method, []byte(params), s.reply(method)); err != nil {
		t.Fatalf("send %s: %v", method, err)
	}
}
