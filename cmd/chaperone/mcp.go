package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"chaperone/server/fault"
)

func (a *app) mcpCommand() *cobra.Command {
	var project, backend string
	cmd := &cobra.Command{
		Use: "mcp", Short: "Speak the Model Context Protocol on standard input and output",
		Long: "Speak the Model Context Protocol on standard input and output: the tool browse, in one project, by way of the server that is\n" +
			"running. Give an agent the command: chaperone mcp",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.dial()
			if err != nil {
				return err
			}
			return a.speak(cmd.Context(), c, project, backend)
		},
	}
	projectFlag(cmd, &project)
	cmd.Flags().StringVar(&backend, "backend", "", "shared: the tabs that you shared; managed: a browser on the server; default: the project's")
	return cmd
}

// speak carries messages between the agent and the server until the agent has no more or the server is gone.
func (a *app) speak(ctx context.Context, c *client, project, backend string) error {
	name, err := c.projectName(ctx, project)
	if err != nil {
		return err
	}
	if _, err := get[projectView](ctx, c, "/api/v1/projects/"+url.PathEscape(name)); err != nil {
		return err
	}
	query := url.Values{"project": {name}}
	if backend != "" {
		query.Set("backend", backend)
	}
	b := &bridge{client: c, path: "/mcp?" + query.Encode(), out: a.out}
	ctx, b.fail = context.WithCancelCause(ctx)
	err = b.carry(ctx, messages(ctx, a.in))
	b.answers.Wait()
	b.leave(context.WithoutCancel(ctx))
	if ended, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok && err == nil {
		err = ended
	}
	b.fail(nil)
	return err
}

// messages are the lines of in. One line waits at most; the reader of a terminal or a pipe cannot be called
// back, so it ends with the process.
func messages(ctx context.Context, in io.Reader) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}
