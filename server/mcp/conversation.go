package mcp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/session"
)

// closeWait bounds the closing of a conversation's browser session.
const closeWait = 15 * time.Second

// conversation is one MCP session: who speaks, for which project, and the browser session it has.
type conversation struct {
	sessions Sessions
	actor    account.Actor
	project  project.Project

	browserMu sync.Mutex // held while a browser session opens, so that two first calls open one
	browser   string     // the browser session's id; empty before the first call and after its end
	over      bool
}

// call runs one action. What goes wrong is the tool's answer, so that the model reads it and can go on.
func (c *conversation) call(ctx context.Context, arguments json.RawMessage) *sdk.CallToolResult {
	action, err := browse.ParseAction(arguments)
	if err != nil {
		return failure(fault.Of(err))
	}
	id, err := c.open(ctx)
	if err != nil {
		return failure(fault.Of(err))
	}
	result, err := c.sessions.Do(ctx, c.actor, id, action)
	if fault.Is(err, fault.SessionEnded) {
		c.forget(id)
		return failure(fault.New(fault.SessionEnded, fault.Of(err).Message, "Call again: a new browser session opens, with no tab and no refs."))
	}
	if err != nil {
		return failure(fault.Of(err))
	}
	return answer(result)
}

// open is the conversation's browser session, opened when there is none.
func (c *conversation) open(ctx context.Context) (string, error) {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	if c.over {
		return "", fault.New(fault.SessionEnded, "the conversation is over", "Begin another.")
	}
	if c.browser != "" {
		return c.browser, nil
	}
	view, err := c.sessions.Open(ctx, c.actor, session.Spec{Project: c.project.ID, Label: "mcp"})
	if err != nil {
		return "", err
	}
	c.browser = view.ID
	return view.ID, nil
}

func (c *conversation) forget(id string) {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	if c.browser == id {
		c.browser = ""
	}
}

// end closes the browser session; no other opens afterwards.
func (c *conversation) end() error {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	c.over = true
	if c.browser == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_, err := c.sessions.Close(ctx, c.actor, c.browser)
	c.browser = ""
	return err
}
