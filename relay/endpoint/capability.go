package endpoint

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"sync"

	"chaperone/relay/cdp"
)

// defaultClients is how many CDP clients a capability admits at once.
const defaultClients = 32

// Judge says what a client may do; *cdp.Table is one. It is safe for concurrent use.
type Judge interface {
	// Raw judges one command.
	Raw(level, method string, params []byte) cdp.Verdict
	// ToSend is what of a permitted command's parameters goes down.
	ToSend(method string, params []byte) []byte
	// EventTold reports whether clients may hear of the event.
	EventTold(level, name string) bool
	// Writes reports whether the method may change something.
	Writes(method string) bool
	// Protocol describes what is permitted, as /json/protocol does.
	Protocol() []byte
}

// Command is one message of a client, as a Recorder is told of it.
type Command struct {
	Client  int    // the capability's own number for the client, from 1
	Tab     string // where it goes; empty for what is answered without a tab
	URL     string // the tab's address now
	Method  string // as the client wrote it; empty when its message could not be read
	Writes  bool
	Refused bool
	Raw     []byte // the whole message, not to be changed or kept
}

// Recorder keeps account of what clients do.
type Recorder interface {
	// Record is called before a command takes effect, by the client's own goroutine, which waits for it. After
	// an error nothing more is done and the capability is at its end.
	Record(Command) error
}

// Version is what clients are told of the browser. All fields may be empty.
type Version struct {
	Product   string // "Chrome/156.0.8078.108"
	UserAgent string
}

// GrantOptions says what a capability reaches. Edge and Judge are required.
type GrantOptions struct {
	Edge  Edge
	Judge Judge
	// Level is the judge's word for what the tabs permit; act unless given.
	Level string
	// Recorder may be nil: nobody keeps account then.
	Recorder Recorder
	// Clients is how many may be connected at once; 32 unless given.
	Clients int
	Version Version
	// Changed is told how many clients are connected whenever that changes, one call at a time. It must not wait
	// long and must not revoke.
	Changed func(clients int)
	// Logger takes what an operator may want to know of this capability; the Server's unless given.
	Logger *slog.Logger
}

// Capability is the right to drive one session's tabs over CDP: whoever knows its addresses has it. It is safe
// for concurrent use.
type Capability struct {
	server *Server
	secret string
	router *router
	revoke sync.Once
}

// Grant makes a capability. It lasts until Revoke, the end of its Edge, or the Server's.
func (s *Server) Grant(o GrantOptions) (*Capability, error) {
	if o.Level == "" {
		o.Level = "act"
	}
	if o.Clients <= 0 {
		o.Clients = defaultClients
	}
	if o.Logger == nil {
		o.Logger = s.log
	}
	c := &Capability{server: s, secret: newSecret(), router: newRouter(o)}
	if err := s.admit(c); err != nil {
		c.router.close()
		return nil, err
	}
	return c, nil
}

// newSecret has 256 random bits.
func newSecret() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails: crypto/rand ends the program instead
	return base64.RawURLEncoding.EncodeToString(secret)
}

// hashOf is what a secret is looked up by, so that how long a look-up takes says nothing about secrets.
func hashOf(secret string) [sha256.Size]byte { return sha256.Sum256([]byte(secret)) }

// WS is the address for clients that take a WebSocket one.
func (c *Capability) WS() string { return "ws://" + c.server.host + "/devtools/browser/" + c.secret }

// HTTP is the address for clients that ask for /json/version.
func (c *Capability) HTTP() string { return "http://" + c.server.host + "/" + c.secret }

// Clients counts who is connected.
func (c *Capability) Clients() int { return c.router.count() }

// Done is closed when the capability has ended, whoever ended it.
func (c *Capability) Done() <-chan struct{} { return c.router.over }

// Cut cuts all clients off: from its return on nothing that they send is done. It does not wait for their goodbyes;
// Revoke does.
func (c *Capability) Cut() { c.router.end(endpointClosed) }

// Revoke ends the capability and cuts all its clients off. When it returns, all tabs are let go and nothing of it
// runs any more. It must not be called by the Recorder or by Changed.
func (c *Capability) Revoke() {
	c.revoke.Do(func() { c.server.forget(c) })
	c.router.close()
}

// watch takes the capability away when its router has ended by itself.
func (c *Capability) watch(ctx context.Context) {
	select {
	case <-c.router.over:
	case <-ctx.Done():
	}
	c.Revoke()
}
