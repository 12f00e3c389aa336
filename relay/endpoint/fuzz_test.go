package endpoint_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"chaperone/relay/program"
)

// play is a random story: clients come, ask and go while the edge tells whatever it likes.
type play struct {
	t       *testing.T
	edge    *edge
	url     string
	clients []*client
	posted  map[*client][]string
	child   int
}

// FuzzClientsAndTheirTabs holds the router against what must be so whatever happens: no session id reaches two clients,
// no attachment is told twice, each command has exactly one answer, and in the end nothing is held back or held.
func FuzzClientsAndTheirTabs(f *testing.F) {
	source := rand.New(rand.NewPCG(1, 2))
	for n := range 24 {
		story := make([]byte, 40+8*n)
		for i := range story {
			story[i] = byte(source.UintN(256))
		}
		f.Add(story)
	}
	f.Fuzz(func(t *testing.T, story []byte) {
		if len(story) > 400 {
			return
		}
		e := newEdge("t1", "t2")
		capability := grant(t, e)
		p := &play{t: t, edge: e, url: capability.WS(), posted: map[*client][]string{}}
		for i := 0; i+1 < len(story); i += 2 {
			p.step(story[i], story[i+1])
		}
		p.end()
		capability.Revoke()
		if len(e.holds) > 0 {
			t.Error("a tab is held after the end")
		}
	})
}

func (p *play) step(what, which byte) {
	switch what % 16 {
	case 0:
		p.come()
	case 1:
		p.leave(int(which))
	case 2, 3, 4:
		p.ask(int(which), "", "Target.attachToTarget", fmt.Sprintf(`{"targetId":"TARGETt%d","flatten":true}`, 1+which/16%3))
	case 5:
		p.ask(int(which), "", "Target.setAutoAttach", fmt.Sprintf(`{"autoAttach":%v,"waitForDebuggerOnStart":true,"flatten":true}`, which&32 == 0))
	case 6:
		p.askKnown(int(which), "Target.setAutoAttach", fmt.Sprintf(`{"autoAttach":true,"waitForDebuggerOnStart":%v,"flatten":true}`, which&64 == 0))
	case 7:
		p.askKnown(int(which), "Runtime.runIfWaitingForDebugger", `{}`)
	case 8:
		p.askKnown(int(which), []string{"Runtime.enable", "Network.enable", "DOM.getDocument", "Runtime.disable"}[which%4], `{}`)
	case 9:
		p.askKnown(int(which), "Emulation.setEmulatedMedia", `{"media":"print"}`)
	case 10:
		p.detach(int(which))
	case 11:
		p.newChild(int(which))
	default:
		p.edgeDoes(what%16, int(which))
	}
}

func (p *play) edgeDoes(what byte, which int) {
	tab := fmt.Sprintf("t%d", 1+which%2)
	h := p.edge.hold(tab)
	if h == nil {
		return
	}
	switch what {
	case 12:
		h.event("", "Target.detachedFromTarget", fmt.Sprintf(`{"sessionId":"edge%d"}`, which/2%(p.child+1)))
	case 13:
		h.asleep()
		h.reset("TARGET" + tab)
	case 14:
		h.event("", "Runtime.executionContextCreated", worldOf(which, ""))
	case 15:
		if which < 40 {
			p.edge.change(func() { p.edge.tabs = p.edge.tabs[:0] })
			h.tell(func() { h.sink.Gone(&program.Error{Code: "tab_closed", Message: "the tab is closed"}) })
			p.edge.change(func() { p.edge.tabs = append(p.edge.tabs, page("t1"), page("t2")) })
		}
	}
}

func (p *play) come() {
	if len(p.clients) < 4 {
		p.clients = append(p.clients, connect(p.t, p.url))
	}
}

func (p *play) pick(which int) *client {
	if len(p.clients) == 0 {
		p.come()
	}
	return p.clients[which%len(p.clients)]
}

func (p *play) leave(which int) {
	if len(p.clients) < 2 {
		return
	}
	c := p.pick(which)
	_ = c.conn.CloseNow()
	<-c.ended
	p.clients = append(p.clients[:which%len(p.clients)], p.clients[which%len(p.clients)+1:]...)
	p.check(c)
}

func (p *play) ask(which int, session, method, params string) {
	c := p.pick(which)
	p.posted[c] = append(p.posted[c], c.post(session, method, params))
}

// sessions are those that a client was given so far, gone or not.
func (p *play) sessions(c *client) []string {
	told := c.all(event("Target.attachedToTarget"))
	list := make([]string, 0, len(told))
	for _, m := range told {
		list = append(list, pick(p.t, m.Params, "sessionId"))
	}
	return list
}

func (p *play) askKnown(which int, method, params string) {
	if list := p.sessions(p.pick(which)); len(list) > 0 {
		p.ask(which, list[which/4%len(list)], method, params)
	}
}

func (p *play) detach(which int) {
	if list := p.sessions(p.pick(which)); len(list) > 0 {
		p.ask(which, "", "Target.detachFromTarget", `{"sessionId":"`+list[which/4%len(list)]+`"}`)
	}
}

func (p *play) newChild(which int) {
	h := p.edge.hold(fmt.Sprintf("t%d", 1+which%2))
	if h == nil {
		return
	}
	p.child++
	h.event("", "Target.attachedToTarget", fmt.Sprintf(
		`{"sessionId":"edge%d","targetInfo":{"targetId":"C%d","type":"worker","title":"","url":"u"},"waitingForDebugger":%v}`,
		p.child, p.child, which&4 == 0))
}

// end waits for all answers, and then for those who hold back to leave.
func (p *play) end() {
	for _, c := range p.clients {
		for _, id := range p.posted[c] {
			c.await("the answer of "+id, answers(id))
		}
		c.call("", "Browser.getVersion", "{}")
	}
	given := map[string]*client{}
	for _, c := range p.clients {
		p.check(c)
		for _, m := range c.all(func(message) bool { return true }) {
			if other := given[m.Session]; m.Session != "" && other != nil && other != c {
				p.t.Errorf("two clients heard of session %s", m.Session)
			}
			given[m.Session] = c
		}
	}
}

// heard is what one client was told so far.
type heard struct {
	t              *testing.T
	told, answered map[string]bool
	live           map[string]bool
}

// check holds what one client heard against what must be so.
func (p *play) check(c *client) {
	h := heard{t: p.t, told: map[string]bool{}, answered: map[string]bool{}, live: map[string]bool{"": true}}
	for _, m := range c.all(func(message) bool { return true }) {
		if m.Method == "" {
			h.answer(m)
		} else {
			h.event(m)
		}
	}
}

func (h heard) answer(m message) {
	if h.answered[string(m.ID)] {
		h.t.Errorf("answered twice: %s", m.raw)
	}
	h.answered[string(m.ID)] = true
}

func (h heard) event(m message) {
	if strings.HasPrefix(m.Method, "broken") {
		h.t.Errorf("not JSON: %s", m.raw)
	}
	if !h.live[m.Session] {
		h.t.Errorf("an event in a session that is gone: %s", m.raw)
	}
	session := ""
	if m.Method == "Target.attachedToTarget" || m.Method == "Target.detachedFromTarget" {
		session = pick(h.t, m.Params, "sessionId")
	}
	switch m.Method {
	case "Target.attachedToTarget":
		if h.told[session] {
			h.t.Errorf("attached twice: %s", m.raw)
		}
		h.told[session], h.live[session] = true, true
	case "Target.detachedFromTarget":
		if !h.live[session] {
			h.t.Errorf("detached what was not attached: %s", m.raw)
		}
		delete(h.live, session)
	}
}
