// Package e2e holds the tests that need everything: the real binary, a real Chromium with the real
// extension, real pages. It has no code of its own; layers_test.go also holds the house together.
package e2e
