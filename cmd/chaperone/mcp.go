package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func (a *app) mcpCommand() *cobra.Command {
	var project string
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
			return a.bridge(cmd.Context(), c, project)
		},
	}
	projectFlag(cmd, &project)
	return cmd
}

// bridge carries messages between the agent and the server until either ends.
func (a *app) bridge(ctx context.Context, c *client, project string) error {
	name, err := c.projectName(ctx, project)
	if err != nil {
		return err
	}
	far, err := (&sdk.StreamableClientTransport{
		Endpoint:   c.base + "/mcp?project=" + url.QueryEscape(name),
		HTTPClient: &http.Client{Transport: bearer{c}, CheckRedirect: stay},
		// The server has nothing to say unasked.
		DisableStandaloneSSE: true,
	}).Connect(ctx)
	if err != nil {
		return err
	}
	near, err := (&sdk.IOTransport{Reader: io.NopCloser(a.in), Writer: writeCloser{a.out}}).Connect(ctx)
	if err != nil {
		return errors.Join(err, far.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 2)
	go func() { ended <- carry(ctx, near, far) }()
	go func() { ended <- carry(ctx, far, near) }()
	err = <-ended
	cancel()
	return errors.Join(err, far.Close(), near.Close(), <-ended)
}

// carry passes messages on until the sender has no more or the other direction has ended.
func carry(ctx context.Context, from, to sdk.Connection) error {
	for {
		message, err := from.Read(ctx)
		if err == nil {
			err = to.Write(ctx, message)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil //nolint:nilerr // the end of a conversation is no error
		default:
			return err
		}
	}
}

// bearer sends the client's token with each request.
type bearer struct{ client *client }

// RoundTrip sends one request.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.client.token)
	transport := b.client.http.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	return transport.RoundTrip(r)
}

type writeCloser struct{ io.Writer }

// Close leaves the stream open: it is the process's.
func (writeCloser) Close() error { return nil }
