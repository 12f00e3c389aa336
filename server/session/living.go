package session

import (
	"sync"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/ledger"
	"chaperone/server/project"
)

// living is a session that has a browser.
type living struct {
	id, account string
	actor       account.Actor
	project     project.Project // as it was when the session opened
	spec        Spec
	backend     project.Backend
	confinement string
	created     time.Time

	browser Browser
	engine  *browse.Engine
	over    chan struct{} // closed when the end begins
	gone    chan struct{} // closed when nothing of it is left
	endOnce sync.Once

	refused refused // by egress, not told yet

	exposedMu sync.Mutex
	exposed   *exposed // nil until there is a CDP endpoint; an old one stays until the next

	nowMu    sync.Mutex
	state    State
	reason   string
	ended    time.Time
	actions  int
	commands int // of CDP clients
	running  int
	clients  int       // connected over CDP
	last     time.Time // of the latest action's start or end
	tab      string    // where the latest action was
	showing  showing
}

func (l *living) owner() owner {
	return owner{account: l.account, project: l.project.ID, onProfile: l.project.Profile && l.backend == project.Managed}
}

// selected is the tab that the browser remembers as selected.
func (l *living) selected() string {
	if b, ok := l.browser.(remembering); ok {
		return b.Selected()
	}
	return ""
}

func (l *living) view() View {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	v := View{
		ID: l.id, Project: l.project.ID, ProjectName: l.project.Name, Backend: string(l.backend),
		Policy: string(l.project.Policy), Label: l.spec.Label, Run: l.spec.Run, State: l.state, Reason: l.reason,
		CreatedAt: l.created, Actions: l.actions, Commands: l.commands, Tabs: l.browser.Tabs(), Confinement: l.confinement,
		AllowDomains: l.spec.AllowDomains, CDPClients: l.clients,
	}
	if !l.ended.IsZero() {
		v.EndedAt = &l.ended
	}
	return v
}

// begin counts an action in and numbers it.
func (l *living) begin(now time.Time) int64 {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	l.actions++
	l.running++
	l.last = now
	return int64(l.actions)
}

// finish counts an action out and remembers where it was.
func (l *living) finish(now time.Time, tab string) {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	l.running--
	l.last = now
	if tab != "" {
		l.tab = tab
		if b, ok := l.browser.(remembering); ok {
			b.Select(tab)
		}
		l.showing.move(tab, now)
	}
}

// command counts a command of a CDP client and follows it to its tab.
func (l *living) command(c endpoint.Command, clock func() time.Time) {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	l.commands++
	if c.Tab != "" && !c.Refused {
		l.showing.drift(c.Tab, clock)
	}
}

// catchUp shows the tab that clients' commands went to while another had just been shown; false when it is too early.
func (l *living) catchUp(now time.Time) bool {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	l.showing.catchUp(now)
	return l.showing.next == ""
}

// leads reports whether clients may lead a tab to an address.
func (l *living) leads(address string) bool { return browse.Within(l.spec.AllowDomains, address) }

// latestTab is where the latest action was.
func (l *living) latestTab() string {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	return l.tab
}

// setClients notes how many CDP clients are connected.
func (l *living) setClients(clients int, now time.Time) {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	if l.clients != clients {
		l.clients, l.last = clients, now
	}
}

// idleFor is how long nothing has been done; zero while something is.
func (l *living) idleFor(now time.Time) time.Duration {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	if l.running > 0 || l.clients > 0 {
		return 0
	}
	return now.Sub(l.last)
}

// isOver reports whether the end has begun.
func (l *living) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// shown is the tab that a viewer sees and a channel that closes when it is another.
func (l *living) shown() (string, <-chan struct{}) {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	return l.showing.tab, l.showing.moved
}

func (l *living) setState(state State, reason string, ended time.Time) {
	l.nowMu.Lock()
	defer l.nowMu.Unlock()
	l.state, l.reason, l.ended = state, reason, ended
}

// ledgerActor is an actor as the ledger names it.
func ledgerActor(a account.Actor) ledger.Actor { return ledger.Actor{Kind: string(a.Kind), ID: a.ID()} }

// entry is what every ledger row of this session says.
func (l *living) entry(by ledger.Actor, method string) ledger.Entry {
	return ledger.Entry{
		Account: l.account, Actor: by, Run: l.spec.Run,
		Project: l.project.ID, Session: l.id, Kind: ledger.Browser, Method: method,
		Detail: map[string]string{"backend": string(l.backend)},
	}
}
