// Package relay keeps the links: it admits a person's browser extension over a WebSocket, and lets one
// session after another run programs in the tabs that were shared there.
//
// It owns the protocol of docs/relay.md on the server's side: admission (admit.go), the mutual proof
// (handshake.go, proof.go), frames (frames.go), one link's life (link.go, heartbeat.go, outbox.go,
// calls.go), which link serves which project (hub.go, slot.go), a session's view of it (browser.go,
// run.go, cast.go) and what is told outward (event.go, news.go).
//
// It does not know accounts, projects or tokens but through Authority, does not know what an action is,
// and reads no more of a program's answer than its caller asks for. The extension is the authority over
// the tabs: what is checked here is checked so that a refusal comes early.
//
// A link's life: admit by Origin and Host → hello → challenge → proof → paired → frames both ways, with
// a heartbeat that asks Authority again → closed with a reason. A Browser's life: Open on a live link →
// Run, Cast, Tabs, across reconnects of the same browser → Close, or Done when its browser is gone for good.
package relay
