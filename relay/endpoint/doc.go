// Package endpoint is the private CDP endpoint: it lets unmodified CDP clients (Playwright, Puppeteer,
// chromedp, agent-browser, …) drive one session's tabs, as if they had a browser of their own.
//
// It owns the loopback listener with its capabilities (listener.go, capability.go), one client's socket (client.go,
// queue.go, budget.go), and the router between the clients of a capability and its tabs (router.go): what is done
// with one command (request.go, forward.go), the targets that clients see (targets.go), each client's own target
// sessions (attachment.go, filter.go), a tab's stay at its edge (hold.go, events.go, reset.go, worlds.go), what a domain has told
// for one who enables it late (state.go, stages.go, dom.go), what clients set and leave behind (settings.go, undo.go), what is
// answered without a browser (answers.go, page.go), tabs that clients make and close (making.go), printed pages that are read piece by piece (streams.go), and the one screencast of a tab (cast.go).
//
// What clients of one tab share, because the tab has one CDP session: object groups, node ids (dom.go lends the first
// one's answer to the others), searches, and overrides, of which the last one set counts. A client that leaves takes
// its own back; where another has set the same thing, that one's comes into force again.
//
// Every command is answered. A client may have 1,024 commands (16 MiB) for tabs unanswered, since a tab may never answer
// one; each further one is refused in words, and what is answered without a tab is served all the same. While a browser's
// connection is lost, commands that were not sent wait for it, 10 s from the loss on.
//
// It sees tabs only through Edge, which the link to an extension and the managed transport both satisfy. It
// does not know accounts, projects, sessions' rules or the ledger: who may have a capability is decided by
// whoever asks for one, and what clients did is told to a Recorder.
//
// A capability's life: Grant → clients come and go, each behind its own bounded queue → Revoke, or the end
// of its Edge. A tab's life here: listed → held when the first client attaches → reset as often as its
// attachment is made anew → let go when the last client leaves, or gone.
package endpoint
