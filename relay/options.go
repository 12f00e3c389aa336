package relay

import (
	"context"
	"log/slog"
	"time"

	"chaperone/relay/program"
)

// Authority is what the relay asks about accounts, projects and pairing; the server satisfies it. Both
// methods are called from many goroutines at once and are bounded by a context of at most ten seconds.
type Authority interface {
	// Pairing finds the pairing that a hello names; any error refuses. An unknown token id and a wrong
	// proof look the same from outside. When the token is known but this project is refused, return the
	// error together with a Pairing that has the Token: the error's code and message (of a *program.Error)
	// are then told, but only to whoever has proved the token.
	Pairing(ctx context.Context, tokenID, project string) (Pairing, error)
	// Check is asked at every heartbeat: an error closes the link with 4001. An error that says the
	// server itself is in trouble (code unavailable or busy, or a deadline) closes it with 1001 instead,
	// so that the extension comes back and is asked anew.
	Check(ctx context.Context, p Pairing) error
}

// Pairing is one account's browser in one project, as the Authority knows it.
type Pairing struct {
	Account     string // the account's id
	AccountName string // shown in the popup
	Project     string // the project's id
	ProjectName string // shown in the popup and on the tab group
	// Token is the connection code's token. It never crosses the link.
	Token string
	// Level is the policy's ceiling.
	Level program.Level
}

// Options makes a Hub. Authority, Host and ExtensionID are needed; the rest has defaults.
type Options struct {
	Authority Authority
	// Host says whether a request's Host header is one of the server's own. Nil refuses all.
	Host func(host string) bool
	// ServerName is what the extension shows as the server ("127.0.0.1:7788").
	ServerName string
	// ExtensionID is the only extension that is admitted.
	ExtensionID string
	// Events is told what happened, in order, from one goroutine; it must not block long. Nil tells nobody.
	Events func(Event)
	// Logger's default discards.
	Logger *slog.Logger
	// ReconnectWait is how long a call waits for a lost link to come back; default 10 s.
	ReconnectWait time.Duration
}

// The protocol's bounds (docs/relay.md).
const (
	protocolVersion = 1

	// helloWait bounds each of the two frames that open a link, so that idle sockets hold no place.
	helloWait = 10 * time.Second
	// heartbeat is how often the extension pings and how often Authority is asked again.
	heartbeat = 20 * time.Second
	// silence is three heartbeats: after it the other side is gone, whatever TCP believes.
	silence = 60 * time.Second
	// maxAge makes each link prove its token again at least three times a day.
	maxAge = 8 * time.Hour
	// askWait bounds one question to Authority.
	askWait = 10 * time.Second
	// restWait is how long a tab is left alone that told more than its clients can be told.
	restWait = 5 * time.Second
	// writeWait bounds one write: 2 MiB on a line of 0.6 Mbit/s.
	writeWait = 30 * time.Second
	// reconnectWait is longer than the extension's first four tries (0.5 + 1 + 2 + 4 s).
	reconnectWait = 10 * time.Second

	maxOpening = 64       // sockets that have not proved a token yet
	maxHello   = 1 << 20  // bytes of a message before the link is paired
	maxInbound = 16 << 20 // bytes of a message from the extension
	maxOutward = 2 << 20  // bytes of a message to the extension
	maxHeader  = 1 << 20  // bytes of a message's first line
	maxTabs    = 128      // grants and tabs that sessions made, together
	maxCalls   = 64       // programs under way a link
	maxRaw     = 8 << 10  // raw commands under way a held tab
	maxToken   = 128      // bytes of a name of CDP's: a method, a target, a child
	maxLine    = 64 << 10 // bytes of the first line of a message to the extension
)
