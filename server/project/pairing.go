package project

import (
	"context"

	"chaperone/server/account"
)

// Pairing is what a browser's link is admitted with. Token is a secret: it keys the handshake and must
// never be logged or sent.
type Pairing struct {
	Account     string
	AccountName string
	Project     string
	ProjectName string
	Token       string
	Policy      Policy
}

// Code makes the project's connection code and registers the project for pairing. It never rotates the
// account's token. serverURL is this server's origin as a browser reaches it.
func (p *Projects) Code(ctx context.Context, actor account.Actor, project, serverURL string) (string, error) {
	return "", errUnbuilt
}

// Connect registers the project for pairing without a code, for a browser that is already paired with
// another project of the account.
func (p *Projects) Connect(ctx context.Context, actor account.Actor, project string) error {
	return errUnbuilt
}

// IsPaired reports whether the project is registered for pairing.
func (p *Projects) IsPaired(ctx context.Context, actor account.Actor, project string) (bool, error) {
	return false, errUnbuilt
}

// Revoke forgets this project's pairing until its code is copied or Connect is called again.
func (p *Projects) Revoke(ctx context.Context, actor account.Actor, project string) error {
	return errUnbuilt
}

// Reset replaces the account's pairing token and forgets every project's pairing.
func (p *Projects) Reset(ctx context.Context, actor account.Actor) error { return errUnbuilt }

// Find answers a hello: the pairing for a token id and a project, or not_found, whatever is missing.
func (p *Projects) Find(ctx context.Context, tokenID, project string) (Pairing, error) {
	return Pairing{}, errUnbuilt
}

// Check answers a heartbeat: the pairing as it is now, or not_found once account, project, registration
// or token is gone.
func (p *Projects) Check(ctx context.Context, tokenID, project string) (Pairing, error) {
	return Pairing{}, errUnbuilt
}

// TokenID is how a pairing token is named in a hello: the first 16 hex digits of SHA-256 over
// `chaperone-token-id:` and the token.
func TokenID(token string) string { return "" }
