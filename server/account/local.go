package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chaperone/server/fault"
	"chaperone/server/store"
)

const (
	// LocalTokenFile is the name, in the data folder, of the file that holds the command line's token.
	LocalTokenFile = "token"
	// renewLocal is how long before its expiry a local token is replaced; a server is restarted more
	// often than that.
	renewLocal = 60 * 24 * time.Hour
)

// EnsureLocalToken keeps the file `token` (0600) in dir holding a valid control token of the default
// account bound to no project, for the command line on this machine, and returns it. There is one such
// token: a new one revokes the last. It refuses a file that others may read.
func (a *Accounts) EnsureLocalToken(ctx context.Context, dir string) (string, error) {
	me, err := a.EnsureDefault(ctx)
	if err != nil {
		return "", fmt.Errorf("ensure local token: %w", err)
	}
	path := filepath.Join(dir, LocalTokenFile)
	text, err := readLocal(path)
	if err != nil {
		return "", fmt.Errorf("ensure local token: %w", err)
	}
	holds, err := a.holdsLocal(ctx, me, text)
	if err != nil {
		return "", fmt.Errorf("ensure local token: %w", err)
	}
	if holds {
		return text, nil
	}
	return a.replaceLocal(ctx, me, path)
}

func readLocal(path string) (string, error) {
	err := store.CheckPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own data folder
	return strings.TrimSpace(string(text)), err
}

// holdsLocal reports whether text is me's local token and stays valid for a while.
func (a *Accounts) holdsLocal(ctx context.Context, me Account, text string) (bool, error) {
	actor, err := a.Authenticate(ctx, text)
	if fault.Is(err, fault.Unauthorised) {
		return false, nil
	}
	if err != nil || actor.Account != me.ID || actor.Kind != Token || !actor.CanManage() {
		return false, err
	}
	row, err := a.store.GetAgentToken(ctx, me.ID, actor.TokenID)
	return err == nil && row.Expires.Sub(a.now()) > renewLocal, err
}

func (a *Accounts) replaceLocal(ctx context.Context, me Account, path string) (string, error) {
	if err := a.revokeLocal(ctx, me); err != nil {
		return "", fmt.Errorf("revoke the last local token: %w", err)
	}
	spec := TokenSpec{Name: "command line on this machine", Role: Control, Lifetime: mostTokenLifetime}
	_, text, err := a.mint(ctx, me.Owner(), spec)
	if err != nil {
		return "", err
	}
	if err := writePrivate(path, []byte(text+"\n")); err != nil {
		return "", fmt.Errorf("write local token: %w", err)
	}
	return text, nil
}

func (a *Accounts) revokeLocal(ctx context.Context, me Account) error {
	list, err := a.ListTokens(ctx, me.Owner())
	if err != nil {
		return err
	}
	for _, token := range list {
		if token.Project != "" || token.Revoked {
			continue
		}
		if err := a.RevokeToken(ctx, me.Owner(), token.ID); err != nil {
			return err
		}
	}
	return nil
}
