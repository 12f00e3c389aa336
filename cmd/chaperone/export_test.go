package main

import (
	"chaperone/server/fault"
)

// Main is the program, for the stories.
func Main() { main() }

// ExitOf is the table from code to exit code.
func ExitOf(code fault.Code) int { return exitOf(code) }

// Span reads a length of time as a flag does and writes it again.
func Span(text string) (string, error) {
	var s span
	err := s.Set(text)
	return s.String(), err
}
