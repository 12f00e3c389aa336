// Package mcp is the server's face toward agents that speak the Model Context Protocol: one tool, browse.
//
// It owns the tool's schema and description (schema.go), how a result reads to a model (answer.go), and
// which browser session belongs to which conversation (conversation.go), and what is said to a message that is
// none (message.go). It does not authenticate: web
// hands it each request with its actor. It does not know what an action does.
//
// A conversation's life: the first request makes a server for its actor and project; the first call of
// the tool opens a browser session; each call is one action through the one door; when the conversation
// ends (deleted, idle too long, or Close) its browser session is closed.
package mcp
