// Package cdp knows the Chrome DevTools Protocol as far as the edge must: which method, with which
// parameters, a grant permits (table.go over methods.json; rule.go for programs, raw.go and kinds.go for raw
// clients, paste.go, pageurl.go), how a client's command is taken apart (scan.go), what events and replies lose
// before anybody sees them (strip.go), and what of the protocol is left (protocol.go).
//
// methods.json is the one table: Go embeds it here, so that a refusal is early and tested, and the
// extension bundles the same file, where it is the law. Whatever is not in it is refused. Both pass the
// cases in testdata (calls.json of programs, raw.json of raw clients, strip.json), and refuse whatever of
// testdata/protocol.json is not in testdata/permitted.json, which is for reviewers to read.
//
// A verdict's life: find the method's rules, keep those of the grant's level or lower, hold every given
// parameter against each, answer nothing or one rule's reason. The package does not know programs,
// tabs, sessions or people: a level is a word to it.
package cdp
