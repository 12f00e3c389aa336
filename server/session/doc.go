// Package session is one agent's working context in a project, and the one door for every action.
//
// It owns a session's life (idle → starting → active → ending → ended, or expired, or failed), the limits
// on how many live at once, whose turn it is, and the way of an action: who asks and what the policy
// permits → journal → browse → ledger → events. HTTP, MCP and the command line all act through
// Service.Do; none of them calls the engine, the policy or the ledger by itself.
//
// It does not know what a tab is made of (a Backend opens browsers), what an action does in a page
// (browse does) or how an answer is shown.
//
// A session's life in steps: Open takes a place and a browser; Do serves actions one after the other;
// Close, the idle limit, a lost browser or a changed policy end it: the browser is closed, the place given
// back, the ledger and the events told. Ending twice is ending once.
package session
