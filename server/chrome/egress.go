package chrome

import "context"

// Policy is what a session may do; processes of different policies are never shared.
type Policy string

// The two policies of a project.
const (
	ReadOnly    Policy = "read_only"
	Interactive Policy = "interactive"
)

// Egress opens ways out to the network. It is called once a session; implementations are safe for
// concurrent use.
type Egress interface {
	// OpenWay starts serving the proxy protocol (CONNECT and plain requests) for one session on the Unix
	// socket at way.Socket, in a folder that exists and is 0700, and returns once it can be dialled.
	// closeWay stops it, ends its tunnels, removes the socket, and is called exactly once.
	OpenWay(ctx context.Context, way Way) (closeWay func() error, err error)
}

// Way describes one session's way out.
type Way struct {
	Account string
	Session string
	Policy  Policy
	Socket  string // path to listen at; shorter than the limit of socket addresses
}
