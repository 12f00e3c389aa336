// Package fault is what the outside is told when something did not happen: one of the contract's codes,
// a message that says what happened and a hint that says what to do next.
//
// Every room of the server returns a *Fault where a caller branches on the code; the three faces (HTTP,
// MCP, command line) each map codes in one table of their own. It knows nothing of any room.
package fault
