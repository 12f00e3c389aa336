package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
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

// conversation is one MCP session: who speaks, for which project, and the browser sessions it has, one a backend.
type conversation struct {
	sessions Sessions
	actor    account.Actor
	project  project.Project

	browserMu sync.Mutex        // held while a browser session opens, so that two first calls open one
	backend   project.Backend   // the last call's
	browsers  map[string]string // the browser sessions' ids by backend
	heard     string            // the browser session whose answer was the last
	over      bool
}

// call runs one action. What goes wrong is the tool's answer, so that the model reads it and can go on.
func (c *conversation) call(ctx context.Context, arguments json.RawMessage) *sdk.CallToolResult {
	backend, arguments, err := whichBackend(arguments)
	if err != nil {
		return failure(fault.Of(err))
	}
	action, err := browse.ParseAction(arguments)
	if err != nil {
		return failure(fault.Of(err))
	}
	id, err := c.open(ctx, backend)
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
	result.Unmoved = c.isHeard(id) && result.Unmoved
	return answer(result)
}

// isHeard reports whether the last answer was the same browser session's, and notes whose this one is.
func (c *conversation) isHeard(id string) bool {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	is := c.heard == id
	c.heard = id
	return is
}

// whichBackend takes the argument backend, which is no action's, out of a call's arguments.
func whichBackend(arguments json.RawMessage) (project.Backend, json.RawMessage, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &all); err != nil {
		return "", nil, fault.New(fault.BadRequest, "The arguments are not a JSON object", `Send {"action":"snapshot"}.`)
	}
	if all["backend"] == nil {
		return "", arguments, nil
	}
	var backend project.Backend
	if err := json.Unmarshal(all["backend"], &backend); err != nil || !slices.Contains(backends(), string(backend)) {
		return "", nil, fault.New(fault.BadRequest, "There is no such backend", "Use one of "+strings.Join(backends(), ", ")+".")
	}
	delete(all, "backend")
	rest, err := json.Marshal(all)
	if err != nil {
		return "", nil, fault.Wrap(err, "the arguments do not read")
	}
	return backend, rest, nil
}

// open is the conversation's browser session of a backend, opened when there is none; without a backend it is the last
// call's.
func (c *conversation) open(ctx context.Context, backend project.Backend) (string, error) {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	if c.over {
		return "", fault.New(fault.SessionEnded, "the conversation is over", "Begin another.")
	}
	if backend == "" {
		backend = c.backend
	}
	if id := c.browsers[string(backend)]; id != "" {
		c.backend = backend
		return id, nil
	}
	view, err := c.sessions.Open(ctx, c.actor, session.Spec{Project: c.project.ID, Backend: string(backend), Label: "mcp"})
	if err != nil {
		return "", err
	}
	c.backend, c.browsers[string(backend)] = backend, view.ID
	return view.ID, nil
}

func (c *conversation) forget(id string) {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	maps.DeleteFunc(c.browsers, func(_, browser string) bool { return browser == id })
}

// end closes the browser sessions; no other opens afterwards.
func (c *conversation) end() error {
	c.browserMu.Lock()
	defer c.browserMu.Unlock()
	c.over = true
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	var trouble error
	for _, id := range c.browsers {
		_, err := c.sessions.Close(ctx, c.actor, id)
		trouble = errors.Join(trouble, err)
	}
	clear(c.browsers)
	return trouble
}
