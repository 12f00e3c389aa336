package web

import (
	"context"
	"crypto/sha256"

	"chaperone/server/account"
	"chaperone/server/session"
)

func (s *site) expose(c *call) (any, error) {
	bearer, err := bearerOf(c.r)
	if err != nil {
		return nil, err
	}
	access, err := s.o.Exposure.Expose(c.r.Context(), c.actor, c.param("s"), session.Credential{
		Sum:    sha256.Sum256([]byte(bearer)),
		Holder: func(ctx context.Context) (account.Actor, error) { return s.o.Identity.Recheck(ctx, bearer) },
	})
	if err != nil {
		return nil, err
	}
	if access.IsNew {
		return created{access}, nil
	}
	return access, nil
}

func (s *site) withdraw(c *call) (any, error) {
	return nil, s.o.Exposure.Withdraw(c.r.Context(), c.actor, c.param("s"))
}
