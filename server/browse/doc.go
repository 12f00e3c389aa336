// Package browse is the browse tool: it turns one action into one program, has a browser run it, and
// turns what came back into text a model can read.
//
// It owns the actions and which of them a read-only project permits (action.go), refs (refs.go), the
// programs (build.go), which part of a page an answer shows and where it goes on (view.go, cursors.go), snapshot text,
// budgets and differences (render.go, show.go, diff.go), what took a stale ref's place (stale.go), the check of
// addresses and domains (address.go), the boundaries around page text (clean.go) and what the outside is
// told when something did not happen (trouble.go).
//
// It does not know who asks, how a browser is reached, or where pictures are kept: a browser is the small
// interface Browser, and session fills the fields of a Result that are its own.
//
// An action's life: ParseAction, Engine.Do — refused by policy, address or domain before the browser is
// touched — build, run once, read the steps, mint refs, compare with what was last shown, answer.
package browse
