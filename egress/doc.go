// Package egress is the forward proxy through which a managed browser reaches the network, and the judge of
// every address and URL before anything is opened. It is usable alone.
//
// It owns the decision where a connection may go: which names and addresses, which ports, which methods. It
// does not know accounts, projects or policies: a listener has one Identity, and all that arrives on it is
// judged as that session's.
//
// The life of a request, in steps:
//
//  1. head.go reads one request head, bounded, and refuses what two parsers could read in two ways;
//  2. target.go turns the request target into a host and a port, in the spelling a browser would end with (host.go);
//  3. resolve.go resolves the name once and judges every address (address.go); one bad address refuses the name;
//  4. dial.go connects to exactly a judged address and checks the peer again;
//  5. exchange.go forwards one request and its answer, or tunnel.go joins the two connections of a CONNECT;
//  6. decision.go tells the log, the metrics and the owner what was decided.
//
// A refusal is an answer whose plain body begins "chaperone-egress: " and its reason; the reason is also in
// the header X-Chaperone-Refused, which no origin can forge: it is taken out of every answer that passes.
package egress
