package chrome

import "context"

// ConfinementMode is how Chrome is kept from the network.
type ConfinementMode string

// The two modes.
const (
	// ByKernel: Chrome is in a network namespace that has no way out but the forwarders to egress.
	ByKernel ConfinementMode = "kernel"
	// ByFlags: only Chrome's own proxy settings keep it from the network.
	ByFlags ConfinementMode = "flags"
)

// Confinement tells how Chrome is kept from the network and, in words for a person, why.
type Confinement struct {
	Mode   ConfinementMode `json:"mode"`
	Reason string          `json:"reason"`
}

// ConfineCommand is the name of the hidden subcommand that runs ConfineMain.
const ConfineCommand = "confine"

// CheckConfinement tries the namespaces on this machine and tells what a pool would use. It starts this
// binary again, so the binary must route ConfineCommand to ConfineMain.
func CheckConfinement(ctx context.Context) Confinement { panic("soon") }

// ConfineMain is the body of the hidden subcommand: args are those after its name. It returns the exit code.
func ConfineMain(args []string) int { panic("soon") }
