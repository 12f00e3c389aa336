// Package account says who is asking: it turns a login code, a bearer or a token file into an Actor.
//
// It owns accounts, one-time login codes, access and refresh tokens, agent tokens, the command line's
// local token, and the key files of the data folder (secrets.go). It does not know projects beyond their
// id, nor what an actor then does.
//
// Its life: Open loads or makes the signing key; EnsureDefault makes the account `me`; LoginCode makes the
// dashboard's one-time code, Login turns it into credentials, Refresh rotates them, Logout ends them;
// Authenticate is asked before everything else. Each access change is a row of the ledger.
package account
