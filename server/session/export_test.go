package session

import (
	"context"
	"time"
)

// Places is how many sessions may live at once.
type Places struct{ places *places }

// NewPlaces has so many places in all and for a project.
func NewPlaces(total, perProject int, wait time.Duration) Places {
	return Places{newPlaces(total, perProject, wait)}
}

// Take waits for a place.
func (p Places) Take(ctx context.Context, account, project string) error {
	return p.places.take(ctx, owner{account: account, project: project})
}

// TakeProfile waits for one on the project's profile.
func (p Places) TakeProfile(ctx context.Context, account, project string) error {
	return p.places.take(ctx, owner{account: account, project: project, onProfile: true})
}

// GiveProfile gives that back.
func (p Places) GiveProfile(account, project string) {
	p.places.give(owner{account: account, project: project, onProfile: true})
}

// Give gives one back.
func (p Places) Give(account, project string) {
	p.places.give(owner{account: account, project: project})
}

// Waiting is how many wait.
func (p Places) Waiting() int {
	p.places.takenMu.Lock()
	defer p.places.takenMu.Unlock()
	return len(p.places.queue)
}
