// Package demo plays the main job for real, as one story: a person with a Chromium and the unpacked
// extension, a server with its embedded defaults, an agent that reads through a shared tab and through a
// managed browser, a write that is refused, and a ledger that verifies.
//
// It owns the story (story.go), the small site that it happens on (site.go), the person (person.go), who
// drives the popup as a hand would, and the agent (agent.go), who has nothing but the HTTP API. It prints
// one line a step, leaves nothing behind, and names the step that failed.
package demo
