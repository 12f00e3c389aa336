package chrome

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

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

// probeTimeout is generous: a try takes milliseconds, and only a frozen machine takes more.
const probeTimeout = 10 * time.Second

// CheckConfinement tries the namespaces on this machine and tells what a pool would use. It starts this
// binary again, so the binary must route ConfineCommand to ConfineMain.
func CheckConfinement(ctx context.Context) Confinement {
	_, confinement := chooseNamespaces(ctx)
	return confinement
}

// chooseNamespaces returns the words for the confine process that work here; none means by flags alone.
func chooseNamespaces(ctx context.Context) ([]string, Confinement) {
	refusal := errors.New("this system has no network namespaces")
	for _, words := range namespaceAttempts() {
		err := probe(ctx, words)
		if err == nil {
			return words, Confinement{Mode: ByKernel, Reason: kernelReason(words)}
		}
		refusal = err
	}
	return nil, Confinement{
		Mode:   ByFlags,
		Reason: fmt.Sprintf("only Chrome's own flags keep it from the network: %v", refusal),
	}
}

func kernelReason(words []string) string {
	reason := "Chrome runs in its own " + strings.Join(words, " and ") + " namespace"
	if len(words) > 1 {
		reason += "s"
	}
	reason += ", whose only way out is the egress proxy"
	if isRoot() {
		reason += "; as root it runs without Chrome's own sandbox and without any capability"
	}
	return reason
}

func probe(ctx context.Context, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd, err := confineCommand(ctx, append([]string{onlyProbe}, words...))
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("try %s namespace: %w %s", strings.Join(words, " and "), err, strings.TrimSpace(said.String()))
	}
	return nil
}

// errNotRouted is a binary that does not know the subcommand: it would start itself without end.
var errNotRouted = errors.New("this binary does not route " + ConfineCommand + " to ConfineMain")

// confineCommand is this binary once more, as a confine process in the namespaces that words name.
func confineCommand(ctx context.Context, words []string) (*exec.Cmd, error) {
	if len(os.Args) > 1 && os.Args[1] == ConfineCommand {
		return nil, errNotRouted
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, append([]string{ConfineCommand}, words...)...) // #nosec G204 -- our own binary, fixed words
	cmd.Env = []string{}
	cmd.SysProcAttr = namespaces(words)
	return cmd, nil
}
