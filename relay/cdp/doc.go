// Package cdp knows the Chrome DevTools Protocol as far as the edge must: which method, with which
// parameters, a grant permits (table.go over methods.json).
//
// methods.json is the one table: Go embeds it here, so that a refusal is early and tested, and the
// extension bundles the same file, where it is the law. Whatever is not in it is refused.
package cdp
