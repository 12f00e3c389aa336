package session

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"chaperone/relay/endpoint"
	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/project"
)

const (
	// recheckEvery is how often the credentials that asked for a capability are asked again, as those of streams are.
	recheckEvery = 15 * time.Second
	// recheckWait bounds one such question; a store that does not answer is a no.
	recheckWait = 10 * time.Second
	// mostCredentials is how many may have asked for one capability.
	mostCredentials = 64
)

// Endpoint grants private CDP endpoints. It fills in by what commands are judged.
type Endpoint interface {
	Grant(o endpoint.GrantOptions) (Capability, error)
}

// Capability is a granted endpoint; *endpoint.Capability is one and says what its methods promise.
type Capability interface {
	WS() string
	HTTP() string
	Done() <-chan struct{}
	Cut()
	Revoke()
}

// Credential is what an actor showed, to be asked again while what it was given lasts.
type Credential struct {
	// Sum tells credentials apart; it is a hash, never the credential itself.
	Sum [sha256.Size]byte
	// Holder says whose it is now; an error means that it does not hold any more.
	Holder func(context.Context) (account.Actor, error)
}

// Access is a session's private CDP endpoint, as those see it who may drive it. Its addresses are secrets.
type Access struct {
	WS      string `json:"ws"`
	HTTP    string `json:"http"`
	Session string `json:"session"`
	// Notices say which tabs clients do not see now, and why.
	Notices []string `json:"notices,omitempty"`
	// IsNew is false where the capability was there already.
	IsNew bool `json:"-"`
}

// exposed is a session's capability with what watches over it.
type exposed struct {
	capability Capability
	record     *recorder
	leave      chan leaving // of capacity one: who comes first
	gone       chan struct{}

	credentialsMu sync.Mutex
	credentials   map[[sha256.Size]byte]Credential
}

// leaving is why a capability ends: who ended it and the ledger's word for it.
type leaving struct {
	by   ledger.Actor
	word string
}

func ofServer(word string) leaving {
	return leaving{by: ledger.Actor{Kind: "server", ID: "server"}, word: word}
}

// Expose gives the session a private CDP endpoint, or tells the one that it has. It lasts until Withdraw, the session's
// end, or the end of one of the credentials that asked for it. Interactive projects only.
func (s *Service) Expose(ctx context.Context, actor account.Actor, id string, by Credential) (Access, error) {
	l, err := s.mine(ctx, actor, id)
	if err != nil {
		return Access{}, err
	}
	pending, err := s.config.Ledger.Begin(ctx, l.access(ledgerActor(actor), "cdp.open"))
	if err != nil {
		return Access{}, fault.Wrap(err, "the endpoint was not opened: the journal could not be written")
	}
	access, failure := s.expose(l, ledgerActor(actor), by)
	outcome := ledger.Outcome{Outcome: ledger.Done, Detail: map[string]string{"new": strconv.FormatBool(access.IsNew)}}
	if failure != nil {
		outcome = ledger.Outcome{Outcome: string(fault.Of(failure).Code)}
	}
	if _, err := s.config.Ledger.Finish(ctx, pending, outcome); err != nil {
		l.withdraw(ofServer("not_recorded"))
		return Access{}, errors.Join(failure, fault.Wrap(err, "the endpoint's ledger row could not be written"))
	}
	return access, failure
}

// Withdraw ends the session's endpoint and cuts its clients off; where there is none, nothing changes.
func (s *Service) Withdraw(ctx context.Context, actor account.Actor, id string) error {
	l, err := s.mine(ctx, actor, id)
	if fault.Is(err, fault.SessionEnded) {
		return nil
	}
	if err != nil {
		return err
	}
	l.withdraw(leaving{by: ledgerActor(actor), word: "withdrawn"})
	return nil
}

// EndedCredential says that a credential has just been ended: whoever was let in by one asks for it again, at once.
func (s *Service) EndedCredential() { s.credentials.ring() }

// CredentialEnded is closed at the next EndedCredential.
func (s *Service) CredentialEnded() <-chan struct{} { return s.credentials.next() }

// access is a ledger entry about who may reach the session.
func (l *living) access(by ledger.Actor, method string) ledger.Entry {
	entry := l.entry(by, method)
	entry.Kind = ledger.Access
	return entry
}

func (s *Service) expose(l *living, actor ledger.Actor, by Credential) (Access, error) {
	if l.project.Policy != project.Interactive {
		return Access{}, fault.New(fault.ReadOnlyRefused, "a read-only project has no CDP endpoint: its clients could do anything",
			"Make the project interactive: chaperone project set "+l.project.Name+" --policy interactive")
	}
	l.exposedMu.Lock()
	defer l.exposedMu.Unlock()
	if l.isOver() {
		return Access{}, ended(l.view())
	}
	x, isNew := l.exposed, false
	if x == nil || isClosed(x.gone) || isClosed(x.capability.Done()) {
		if x != nil {
			<-x.gone
		}
		var err error
		if x, err = s.grant(l, actor); err != nil {
			return Access{}, err
		}
		isNew = true
	}
	if !x.admit(by) {
		return Access{}, fault.New(fault.RateLimited, "too many have asked for this endpoint", "Revoke it, and ask again.")
	}
	if isNew {
		l.exposed = x
		s.minds.Go(func() { s.mindAccess(l, x) })
		s.tell(context.Background(), l, "browser.cdp", map[string]any{"state": "opened"})
	}
	return Access{WS: x.capability.WS(), HTTP: x.capability.HTTP(), Session: l.id, Notices: s.unseen(l), IsNew: isNew}, nil
}

// grant makes a capability; exposedMu is held.
func (s *Service) grant(l *living, by ledger.Actor) (*exposed, error) {
	edge, ok := l.browser.(endpoint.Edge)
	if !ok || s.config.Endpoint == nil {
		return nil, fault.New(fault.Unavailable, "this session's browser takes no CDP clients", "")
	}
	record := newRecorder(s, l, by)
	capability, err := s.config.Endpoint.Grant(endpoint.GrantOptions{
		Edge: within(edge, l.spec.AllowDomains), Version: versionOf(l.browser), Recorder: record, Changed: func(clients int) {
			l.setClients(clients, s.config.Now())
			record.changed(clients)
		},
	})
	if err != nil {
		record.close()
		return nil, fault.Wrap(err, "the CDP endpoint cannot be opened")
	}
	record.key(capability)
	return &exposed{
		capability: capability, record: record, leave: make(chan leaving, 1), gone: make(chan struct{}),
		credentials: map[[sha256.Size]byte]Credential{},
	}, nil
}

// versionOf is what the browser calls itself, where it says so.
func versionOf(b Browser) endpoint.Version {
	if teller, ok := b.(interface{ Product() string }); ok {
		return endpoint.Version{Product: teller.Product()}
	}
	return endpoint.Version{}
}

// mindAccess waits for the capability's end, and clears it away.
func (s *Service) mindAccess(l *living, x *exposed) {
	defer close(x.gone)
	why := s.awaitLeaving(l, x)
	x.capability.Revoke()
	x.record.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	l.setClients(0, s.config.Now())
	outcome := ledger.Outcome{Outcome: ledger.Done, Detail: map[string]string{"cause": why.word}}
	if _, err := s.config.Ledger.Append(ctx, l.access(why.by, "cdp.close"), outcome); err != nil {
		s.config.Logger.ErrorContext(ctx, "endpoint's end not in the ledger", slog.String("session", l.id), slog.Any("error", err))
	}
	s.tell(ctx, l, "browser.cdp", map[string]any{"state": "closed", "reason": why.word})
}

func (s *Service) awaitLeaving(l *living, x *exposed) leaving {
	check := time.NewTicker(s.config.Recheck)
	defer check.Stop()
	ended := s.CredentialEnded()
	for {
		select {
		case why := <-x.leave:
			return why
		case <-x.record.broken:
			return ofServer("not_recorded")
		case <-x.capability.Done():
			return x.whyDone()
		case <-check.C:
		case <-ended:
			ended = s.CredentialEnded()
		}
		if !x.holds(l) {
			return ofServer("credential_ended")
		}
	}
}

// whyDone says why a capability has ended by itself, or was cut off.
func (x *exposed) whyDone() leaving {
	select {
	case why := <-x.leave:
		return why
	default:
	}
	if isClosed(x.record.broken) {
		return ofServer("not_recorded")
	}
	return ofServer("browser_gone")
}

// admit adds a credential to those that the capability stands on.
func (x *exposed) admit(by Credential) bool {
	x.credentialsMu.Lock()
	defer x.credentialsMu.Unlock()
	if _, ok := x.credentials[by.Sum]; !ok && len(x.credentials) >= mostCredentials {
		return false
	}
	x.credentials[by.Sum] = by
	return true
}

// holds asks every credential whether its holder may still act in the session. All of them know the addresses.
func (x *exposed) holds(l *living) bool {
	ctx, cancel := context.WithTimeout(context.Background(), recheckWait)
	defer cancel()
	x.credentialsMu.Lock()
	defer x.credentialsMu.Unlock()
	for _, c := range x.credentials {
		actor, err := c.Holder(ctx)
		if err != nil || actor.Account != l.account || !actor.CanControl(l.project.ID) {
			return false
		}
	}
	return true
}

// withdraw ends the capability, if there is one, and waits until nothing of it is left.
func (l *living) withdraw(why leaving) {
	if x := l.cut(why); x != nil {
		<-x.gone
	}
}

// cut ends the capability, if there is one, for its clients at once, and answers it. What is left of it goes in its own
// time: goodbyes to clients that do not listen take some seconds.
func (l *living) cut(why leaving) *exposed {
	l.exposedMu.Lock()
	x := l.exposed
	l.exposedMu.Unlock()
	if x == nil {
		return nil
	}
	select {
	case x.leave <- why:
	default:
	}
	x.capability.Cut()
	return x
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
