// Package web is the server's face over HTTP: routes, who may ask, how an answer or a fault is written,
// the streams, and the dashboard's files.
//
// It owns gin, the table of routes (each room's routes.go-like file adds its own; table.go registers
// them, openapi.go describes them), the guard before every route (guard.go: own Host, own Origin, size,
// headers), the bearer's actor (call.go) and the one table from fault code to status (faults.go). It does
// not know what an action does, who may see what, or where anything is kept: it asks the rooms through
// the small interfaces of options.go.
//
// A request's life: guard → route → actor → handler → answer or fault, as JSON; a stream is written until
// its reader leaves, its credential ends or its session does. New starts nothing; the handler may serve
// several listeners at once, the local socket too.
package web
