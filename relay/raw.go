package relay

import (
	"context"
	"strconv"
	"sync"

	"chaperone/relay/program"
)

// Send passes one raw command on. It waits while 8192 raw commands of the tab are under way or 4 MiB of the link's wait
// for the socket, at most until ctx ends. The error is ctx's or a *program.Error: what Asleep or Gone said, too_large
// over 2 MiB, bad_request for names that are none of CDP's.
func (h *hold) Send(ctx context.Context, child, method string, params []byte, reply func(result []byte, err error)) error {
	l, err := h.way()
	if err != nil {
		return err
	}
	if !isToken(child) || !isToken(method) || method == "" {
		return refuse(codeBadRequest, "the method or the target session is no name of CDP's")
	}
	size := h.frameSize(child, method, params)
	switch {
	case size > maxOutward:
		return refuse(codeTooLarge, "the command is larger than 2 MiB")
	case size-len(params) > maxLine:
		return refuse(codeBadRequest, "the tab's name is too long")
	}
	room := max(size, rawLeast)
	if err := h.enter(ctx, l, room); err != nil {
		return err
	}
	if err := h.dispatch(l, room, rawCommand{child, method, params, reply}); err != nil {
		h.raw.leave(1)
		l.outbox.raw.leave(room)
		return err
	}
	return nil
}

// rawCommand is what one Send was given.
type rawCommand struct {
	child, method string
	params        []byte
	reply         func([]byte, error)
}

// enter takes a place under way and room in the outbox.
func (h *hold) enter(ctx context.Context, l *link, room int) error {
	if err := h.raw.enter(ctx, l.over, 1); err != nil {
		return notSent(err)
	}
	if err := l.outbox.raw.enter(ctx, l.over, room); err != nil {
		h.raw.leave(1)
		return notSent(err)
	}
	return nil
}

func notSent(err error) error {
	if err == errBroke { //nolint:errorlint // the gate hands it on as it is
		return errLinkLost()
	}
	return err
}

// dispatch queues the command, if l is still the way: whatever closes the way answers all that went before.
func (h *hold) dispatch(l *link, room int, r rawCommand) error {
	h.nowMu.Lock()
	defer h.nowMu.Unlock()
	if h.now != l {
		return h.closedWay()
	}
	c := l.calls.startFor(h, kindReply, r.reply)
	if c == nil {
		return errLinkLost()
	}
	l.outbox.putRaw(parcel{frame: h.frame(c.id, r), room: room})
	return nil
}

// closedWay is why there is no way now; nowMu is held. A way that is another link's is a new one: what was meant
// for the earlier is not for it.
func (h *hold) closedWay() error {
	if h.now != nil {
		return errLinkLost()
	}
	return h.why
}

// headRoom is more than the fixed parts of a command's header and its id take.
const headRoom = 72

func (h *hold) frameSize(child, method string, params []byte) int {
	return headRoom + len(h.route) + len(child) + len(method) + len(params)
}

// frame writes a command. Its names need no escaping.
func (h *hold) frame(id int64, r rawCommand) []byte {
	frame := make([]byte, 0, h.frameSize(r.child, r.method, r.params))
	frame = append(frame, `{"t":"`+kindCDP+`","id":`...)
	frame = strconv.AppendInt(frame, id, 10)
	frame = append(frame, h.route...)
	if r.child != "" {
		frame = append(append(append(frame, `,"child":"`...), r.child...), '"')
	}
	frame = append(append(append(frame, `,"method":"`...), r.method...), `"}`...)
	if len(r.params) > 0 {
		frame = append(append(frame, '\n'), r.params...)
	}
	return frame
}

// result is what a reply to a raw command says.
func (a answer) result() ([]byte, error) {
	switch {
	case a.head.T == kindError:
		return nil, a.trouble()
	case a.head.Error != nil:
		return nil, a.head.Error
	}
	body, ok := object(a.body)
	if !ok {
		return nil, errUnreadable()
	}
	return body, nil
}

// object takes a body for a JSON object by its ends, without reading it; no body is an empty one.
func object(body []byte) ([]byte, bool) {
	if len(body) == 0 {
		return []byte("{}"), true
	}
	return body, len(body) > 1 && body[0] == '{' && body[len(body)-1] == '}'
}

// trouble is what an error frame says.
func (a answer) trouble() *program.Error {
	if a.head.Code == "" {
		return errUnreadable()
	}
	return refuse(a.head.Code, a.head.Message)
}

// holds are the tabs that a link was asked to hold, by name.
type holds struct {
	tabsMu sync.Mutex
	tabs   map[string]*hold // nil until there is one: most links have none
}

func (h *holds) add(held *hold) {
	h.tabsMu.Lock()
	defer h.tabsMu.Unlock()
	if h.tabs == nil {
		h.tabs = map[string]*hold{}
	}
	h.tabs[held.tab] = held
}

// remove says whether it was there.
func (h *holds) remove(held *hold) bool {
	h.tabsMu.Lock()
	defer h.tabsMu.Unlock()
	if h.tabs[held.tab] != held {
		return false
	}
	delete(h.tabs, held.tab)
	return true
}

func (h *holds) get(tab string) *hold {
	h.tabsMu.Lock()
	defer h.tabsMu.Unlock()
	return h.tabs[tab]
}

func (h *holds) all() []*hold {
	h.tabsMu.Lock()
	defer h.tabsMu.Unlock()
	all := make([]*hold, 0, len(h.tabs))
	for _, held := range h.tabs {
		all = append(all, held)
	}
	return all
}

// tell passes what the extension says of a held tab on; of any other it is late, or none of our business.
func (l *link) tellOf(head inward, body []byte) error {
	h := l.holds.get(head.Tab)
	if h == nil {
		return nil
	}
	switch head.T {
	case kindEvent:
		params, ok := object(body)
		if !ok || head.Method == "" {
			return errProtocol()
		}
		h.event(l, head.Child, head.Method, params)
	case kindAsleep:
		h.slept(l, asleep(head))
	case kindHeld:
		h.revived(l, head.Target)
	}
	return nil
}

// asleep is why an attachment is lost for now.
func asleep(head inward) *program.Error {
	if head.Code == "" {
		return refuse(codeTabSuspended, "the tab is not attached for now")
	}
	return refuse(head.Code, head.Message)
}

// letGo answers all that is under way for held tabs and tells their sinks that the link is lost.
func (l *link) letGo() {
	l.calls.close()
	for _, h := range l.holds.all() {
		h.lost(l)
	}
}
