package egress

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// MethodRule says which methods an identity may send in the clear. A CONNECT is a tunnel and not its matter.
type MethodRule int

// The zero value is the narrow rule.
const (
	ReadMethods MethodRule = iota // GET and HEAD
	AllMethods                    // any upper-case method but TRACE and TRACK
)

// Identity is on whose behalf a listener's requests are made.
type Identity struct {
	Session string // names the session in decisions and the log
	Methods MethodRule
}

// Resolver turns a name into addresses. The host is given with its final dot, so that no search domain is tried.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Decision is what was decided about one request, and once more when what was allowed was cut. Host is canonical;
// Address is the address dialed, or empty.
type Decision struct {
	At      time.Time
	Session string
	Method  string
	Host    string
	Port    uint16
	Address string
	Verdict string // "allow", "deny", "fail" when the rules allowed it and the network did not, or "cut"
	Reason  string
}

// The verdicts of a Decision.
const (
	VerdictAllow = "allow"
	VerdictDeny  = "deny"
	VerdictFail  = "fail"
	VerdictCut   = "cut" // an allowed exchange or tunnel was ended by a limit
)

// Options make a Proxy. The zero value works.
type Options struct {
	// TestOrigins are exact origins, http://127.0.0.1:PORT or http://localhost:PORT, that are admitted for tests.
	TestOrigins []string
	Resolver    Resolver         // default: Go's own resolver, without the C library's
	Deny        []netip.AddrPort // the server's own addresses; port 0 means every port
	Logger      *slog.Logger     // default: discards
	OnDecision  func(Decision)   // called in the request's goroutine; must not block
	Registerer  prometheus.Registerer
	Limits      Limits
}

// Limits bound what one client or one origin can take. A zero field means its default.
type Limits struct {
	HeadBytes       int           // request head; 64 KiB
	AnswerHeadBytes int64         // response heads of one exchange, interim ones included; 256 KiB
	Addresses       int           // addresses of one name; 64, more refuse the name
	Connections     int           // client connections of one listener; 256, more are answered 503 (see places)
	Tunnels         int           // open tunnels of one listener; 224, more are answered 503
	Bytes           int64         // of one tunnel or one exchange, both ways together; 16 GiB, then it is cut
	Lookup          time.Duration // name resolution; 5 s
	Dial            time.Duration // all attempts to connect; 15 s
	Head            time.Duration // from a request's first byte to the end of its head; 10 s
	Answer          time.Duration // from the end of the request to the response head; 2 min
	Idle            time.Duration // no byte in either direction, and between requests; 5 min
	Life            time.Duration // of a client connection, tunnels included; 8 h, as long as a link
}

func (l Limits) withDefaults() Limits {
	return Limits{
		HeadBytes:       cmp.Or(l.HeadBytes, 64<<10),
		AnswerHeadBytes: cmp.Or(l.AnswerHeadBytes, 256<<10),
		Addresses:       cmp.Or(l.Addresses, 64),
		Connections:     cmp.Or(l.Connections, 256),
		Tunnels:         cmp.Or(l.Tunnels, 224),
		Bytes:           cmp.Or(l.Bytes, 16<<30),
		Lookup:          cmp.Or(l.Lookup, 5*time.Second),
		Dial:            cmp.Or(l.Dial, 15*time.Second),
		Head:            cmp.Or(l.Head, 10*time.Second),
		Answer:          cmp.Or(l.Answer, 2*time.Minute),
		Idle:            cmp.Or(l.Idle, 5*time.Minute),
		Life:            cmp.Or(l.Life, 8*time.Hour),
	}
}

func (o Options) withDefaults() Options {
	if o.Resolver == nil {
		o.Resolver = &net.Resolver{PreferGo: true}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnDecision == nil {
		o.OnDecision = func(Decision) {}
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	o.Limits = o.Limits.withDefaults()
	return o
}
