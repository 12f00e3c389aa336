// Package project owns projects, their policy, and their pairing with the account's browser.
//
// It decides which project an actor may see, and what is not the actor's answers exactly as what does not
// exist. It does not know sessions, links or tabs: Find and Check answer whoever admits a link.
//
// A project's life: EnsureDefault or Create; Update changes name, policy, domains and backend; Delete
// archives it, which ends its pairing and its agent tokens, and leaves its ledger.
//
// A pairing's life: the account has one pairing token (256 bits, sealed at rest, stable until Reset). Code
// makes a project's connection code with it and registers the project, Connect only registers it, Revoke
// forgets it. Of a project that is not registered no link is admitted, whoever knows the token.
package project
