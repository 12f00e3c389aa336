package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// version is the release; the linker sets it.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// streams are what a command reads and writes: results go to out, all else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	root := newRoot(a) //nolint:contextcheck // the library hands each command the context
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(cmd, err)
}
