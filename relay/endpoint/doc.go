// Package endpoint is the private CDP endpoint: it lets unmodified CDP clients (Playwright, Puppeteer,
// chromedp, agent-browser, …) drive one session's tabs, as if they had a browser of their own.
//
// It owns the loopback listener with its capabilities (listener.go, capability.go), one client's socket
// (client.go), and the router between the clients of a session and its tabs: the target model that clients
// see (targets.go), each client's own target sessions (attachment.go), what a domain's state is for one who
// enables it late (state.go), what a client changed and leaves behind (leaving.go), and what the endpoint
// answers by itself because there is no browser behind it that could (answers.go).
//
// It sees tabs only through Edge, which the link to an extension and the managed transport both satisfy. It
// does not know accounts, projects, sessions' rules or the ledger: who may have a capability is decided by
// whoever asks for one, and what clients did is told to a Recorder.
//
// A capability's life: Grant → clients come and go, each behind its own bounded queue → Revoke, or the end
// of its Edge. A tab's life here: listed → held when the first client attaches → reset as often as its
// attachment is made anew → let go when the last client leaves, or gone.
package endpoint
