// Package cdp knows the Chrome DevTools Protocol as far as the edge must: which method, with which
// parameters, a grant permits (table.go over methods.json, rule.go, pageurl.go).
//
// methods.json is the one table: Go embeds it here, so that a refusal is early and tested, and the
// extension bundles the same file, where it is the law. Whatever is not in it is refused. Both pass the
// cases in testdata/calls.json.
//
// A verdict's life: find the method's rules, keep those of the grant's level or lower, hold every given
// parameter against each, answer nothing or the first rule's reason. The package does not know programs,
// tabs or people: a level is a word to it.
package cdp
