package main

import (
	"context"
	"io"
	"net/http"

	"chaperone/server/fault"
)

// Main is the program, for the stories.
func Main() { main() }

// ExitOf is the table from code to exit code.
func ExitOf(code fault.Code) int { return exitOf(code) }

// OpenSession opens a session by a server behind this transport.
func OpenSession(ctx context.Context, errors io.Writer, transport http.RoundTripper) error {
	a := &app{streams: streams{err: errors}}
	_, err := a.openSession(ctx, &client{base: "http://chaperone", http: &http.Client{Transport: transport}}, "/", sessionSpec{})
	return err
}

// Span reads a length of time as a flag does and writes it again.
func Span(text string) (string, error) {
	var s span
	err := s.Set(text)
	return s.String(), err
}

// Run is one command line with its own streams.
func Run(ctx context.Context, args []string, out, errors io.Writer) int {
	return run(ctx, args, streams{out: out, err: errors})
}
