package relay

import (
	"time"

	"chaperone/relay/program"
)

// EventKind is the contract's name of what happened.
type EventKind string

// The kinds of a link's events.
const (
	LinkConnected EventKind = "link.connected"
	LinkLost      EventKind = "link.lost"
	TabShared     EventKind = "tab.shared"
	TabUnshared   EventKind = "tab.unshared"
)

// Reason says why a link ended.
type Reason string

// The reasons, with the close code that the extension sees.
const (
	ReasonLost      Reason = "lost"      // the socket broke or fell silent
	ReasonRevoked   Reason = "revoked"   // 4001: access or token is gone
	ReasonReset     Reason = "reset"     // 4001: the account's token was replaced
	ReasonForgotten Reason = "forgotten" // 1000: the person pressed Disconnect
	ReasonReplaced  Reason = "replaced"  // 4002: another browser took the place
	ReasonExpired   Reason = "expired"   // 4003: it was eight hours old
	ReasonProtocol  Reason = "protocol"  // 4004: a frame that the protocol does not have
	ReasonTooLarge  Reason = "too_large" // 1009: a message over 16 MiB
	ReasonTrouble   Reason = "trouble"   // 1001: the server could not ask or not write
	ReasonShutdown  Reason = "shutdown"  // 1001: the server is ending
)

// words is the reason as the popup shows it; a close frame has room for 123 bytes.
func (r Reason) words() string {
	switch r {
	case ReasonRevoked:
		return "This project is no longer open to this browser."
	case ReasonReset:
		return "The account's connection code was replaced. Copy the new one."
	case ReasonReplaced:
		return "Another browser was connected to this project."
	case ReasonProtocol:
		return "The extension and the server do not understand each other."
	case ReasonLost, ReasonForgotten, ReasonExpired, ReasonTooLarge, ReasonTrouble, ReasonShutdown:
		return string(r) // the extension comes back, or went by itself; nobody reads it
	}
	return "The server ended this connection."
}

// Event is one thing that happened to a project's link. Events of a project come in order; a tab that
// was shared and unshared faster than Options.Events takes events may leave none.
type Event struct {
	Kind    EventKind
	At      time.Time
	Account string
	Project string
	Browser BrowserInfo
	// Tab is set for tab.shared and tab.unshared.
	Tab program.Tab
	// Reason is set for link.lost.
	Reason Reason
}

// BrowserInfo is what a browser says of itself. It is shown, and decides nothing but which browser is the
// same one (Install).
type BrowserInfo struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Extension string `json:"extension"`
	Install   string `json:"install"`
}

// LinkStatus is how a project's link stands.
type LinkStatus struct {
	Connected bool
	// The rest is of the live link; zero when there is none.
	Since   time.Time
	Browser BrowserInfo
	Level   program.Level // the policy's ceiling
	Tabs    []program.Tab
}
