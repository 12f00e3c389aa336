// Package program is the language in which the server asks a browser for something: a short list of
// steps that runs next to the browser and answers once.
//
// It owns the wire shape of a program and its result (program.go, result.go), what a tab looks like from the
// server (tab.go), the static check against the method table (check.go) and the Go executor
// (executor.go), which the managed transport uses. The extension has an executor of its own in
// TypeScript (extension/src/program); both pass the vectors in relay/testdata/programs, which are the
// meaning of every step kind.
//
// It does not know who asks, for which project, or how the answer is shown to anybody.
//
// A program's life: decode, check against the method table at the tab's level, then step after step —
// resolve `$` references, run, keep the result — until the last step, a `stop_if` that holds, the first
// failure or the deadline. A failed step ends the program; nothing is ever run twice.
package program
