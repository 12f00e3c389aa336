// Package program is the language in which the server asks a browser for something: a short list of
// steps that runs next to the browser and answers once.
//
// It owns the wire shape of a program and its result (program.go, result.go), what a tab looks like from the
// server (tab.go), how a page's words are cut (clip.go), strict decoding and the static check against the method table (decode.go, check.go, ref.go),
// and the Go executor, which the managed transport uses: executor.go takes the steps in turn, view.go and events.go
// keep what the tab's events have told, world.go calls the page script, layout.go and frames.go find frames, and
// settle.go, await.go and dialog.go wait and answer; hearing.go and
// requests.go keep what the page asks its servers for while a program waits for what it began, navigate.go and document.go know
// what becomes of documents that are asked for, pick.go chooses the element that is meant. The extension has an executor of
// its own in TypeScript (extension/src/program). Both pass the vectors in relay/testdata/programs, which are the meaning of every step
// kind, and play the scenarios of relay/testdata/chromium in a real browser.
//
// It does not know who asks, for which project, or how the answer is shown to anybody.
//
// A program's life: decode, check against the method table at the tab's level, then step after step —
// resolve `$` references, run, keep the result — until the last step, a `stop_if` that holds, the first
// failure or the deadline. A failed step ends the program. Nothing runs twice but a page-script function
// that only reads, when its document went away while it ran.
package program
