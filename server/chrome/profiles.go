package chrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"chaperone/server/fault"
)

// seatWait is how long a profile is waited for whose Chrome is ending: it has partTimeout for that, and is killed then.
const seatWait = 10 * time.Second

// openOnProfile starts a Chrome on a project's profile, for one session. Nothing of it is shared or kept warm.
func (p *Pool) openOnProfile(ctx context.Context, o OpenOptions) (*Browser, error) {
	if p.options.ProfileRoot == "" || p.full.Path == "" {
		return nil, fault.New(fault.Unavailable, "the server's machine has no full browser, which a profile needs",
			"Install chromium, Chrome or Edge, and start the server again; or switch the project's profile off.")
	}
	seat := profilePath("", o.Account, o.Profile)
	if err := p.takeSeat(ctx, seat); err != nil {
		return nil, p.unavailable(ctx, err)
	}
	held, err := holdProfile(p.options.ProfileRoot, o.Account, o.Profile)
	if err != nil {
		p.giveSeat(seat)
		return nil, p.unavailable(ctx, err)
	}
	b, err := p.openOn(ctx, held, o, func() { p.giveSeat(seat) })
	if err != nil {
		return nil, p.unavailable(ctx, err)
	}
	return b, nil
}

// openOn opens a session on a profile that is held, and sees to it that it is let go of at the end, also at that of a
// failed opening.
func (p *Pool) openOn(ctx context.Context, held *profile, o OpenOptions, after func()) (*Browser, error) {
	gone := make(chan struct{})
	letGo := func() {
		defer close(gone)
		defer after()
		if err := held.release(); err != nil {
			p.log.LogAttrs(ctx, slog.LevelError, "profile was not let go of", slog.Any("error", err))
		}
	}
	proc, err := p.launchOn(ctx, held, o.Policy)
	if err != nil {
		letGo()
		return nil, err
	}
	go func() {
		select {
		case <-proc.dead:
		case <-p.quit:
		}
		proc.stop()
		letGo()
	}()
	stop := func() { proc.stop(); <-gone }
	b := newBrowser(proc, o)
	b.release = stop
	if err := b.beginOn(ctx, held, o); err != nil {
		stop()
		return nil, err
	}
	return b, nil
}

func (p *Pool) launchOn(ctx context.Context, held *profile, policy Policy) (*process, error) {
	if err := held.ready(policy); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, launchTimeout)
	defer cancel()
	return p.launchFor(ctx, held, policy)
}

// beginOn makes a browser that of the profile's session.
func (b *Browser) beginOn(ctx context.Context, held *profile, o OpenOptions) error {
	if err := b.proc.within(ctx, b.enter); err != nil {
		return err
	}
	b.remember(ctx, held)
	return b.begin(ctx, o)
}

// takeSeat makes a profile this caller's, who gives it back with giveSeat.
func (p *Pool) takeSeat(ctx context.Context, seat string) error {
	late := time.NewTimer(p.seatWait)
	defer late.Stop()
	for {
		taken, err := p.claimSeat(seat)
		if taken == nil {
			return err
		}
		select {
		case <-taken:
		case <-late.C:
			return fault.New(fault.Busy, "the project's profile is in use by another session, and serves one at a time",
				"End that session (chaperone session list, session close), or use it.")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// claimSeat answers who to wait for, or nil.
func (p *Pool) claimSeat(seat string) (<-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errPoolClosed
	}
	if taken, ok := p.seats[seat]; ok {
		return taken, nil
	}
	p.seats[seat] = make(chan struct{})
	p.running.Add(1)
	return nil, nil //nolint:nilnil // there is nobody to wait for
}

func (p *Pool) giveSeat(seat string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.seats[seat])
	delete(p.seats, seat)
	p.running.Done()
}

// RemoveProfile deletes a profile with all that it kept; one that is not there is no error. Its session must have been
// ended. Errors are *fault.Fault: busy while it is in use.
func (p *Pool) RemoveProfile(ctx context.Context, account, id string) error {
	if p.options.ProfileRoot == "" || !isFileName(account) || !isFileName(id) {
		return nil
	}
	path := profilePath(p.options.ProfileRoot, account, id)
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	seat := profilePath("", account, id)
	if err := p.takeSeat(ctx, seat); err != nil {
		return err
	}
	defer p.giveSeat(seat)
	held, err := holdProfile(p.options.ProfileRoot, account, id)
	if err != nil {
		return fmt.Errorf("take the profile: %w", err)
	}

	err = errors.Join(held.removeAll(), held.release())
	_ = os.Remove(filepath.Dir(path)) // the account's folder, where that was its last profile
	return err
}
