package server

import (
	"context"

	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server/fault"
	"chaperone/server/project"
)

// authority answers the relay's questions from projects.
type authority struct{ projects *project.Projects }

func (a authority) Pairing(ctx context.Context, tokenID, projectID string) (relay.Pairing, error) {
	p, err := a.projects.Find(ctx, tokenID, projectID)
	return linkPairing(p), edgeError(err)
}

func (a authority) Check(ctx context.Context, p relay.Pairing) error {
	_, err := a.projects.Check(ctx, project.Pairing{Account: p.Account, Project: p.Project, Token: p.Token})
	return edgeError(err)
}

func linkPairing(p project.Pairing) relay.Pairing {
	return relay.Pairing{
		Account: p.Account, AccountName: p.AccountName, Project: p.Project, ProjectName: p.ProjectName,
		Token: p.Token, Level: levelOf(p.Policy),
	}
}

func levelOf(p project.Policy) program.Level {
	if p == project.Interactive {
		return program.LevelAct
	}
	return program.LevelRead
}

// edgeError says a fault in the relay's words. What is not found at a handshake is not authorised.
func edgeError(err error) error {
	if err == nil {
		return nil
	}
	f := fault.Of(err)
	code := f.Code
	if code == fault.NotFound {
		code = fault.Unauthorised
	}
	if code == fault.Internal {
		code = fault.Unavailable // the server is in trouble, not the browser: it shall come back
	}
	return &program.Error{Step: -1, Code: string(code), Message: f.Message}
}
