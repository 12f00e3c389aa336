package main

import (
	"context"
	"fmt"
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
	out := &keeper{to: s.out}
	s.out = out
	a := &app{streams: s}
	root := newRoot(a)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write the result: %w", out.err)
	}
	return a.report(cmd, err)
}

// keeper keeps the first error of a writer: a result that was lost, such as a token that is shown once, is no
// success.
type keeper struct {
	to  io.Writer
	err error
}

func (k *keeper) Write(p []byte) (int, error) {
	n, err := k.to.Write(p)
	if err != nil && k.err == nil {
		k.err = err
	}
	return n, err
}
