// Package ledger keeps, for each account, an append-only chain of rows that proves afterwards what was
// done, by whom and with which outcome.
//
// It owns the journal, the chain and its verification. It does not know what an action means, who may do
// it or who may read the ledger.
//
// An action's life: Begin journals it durably, or it must not run; it runs; Finish appends its row and
// clears the journal in one transaction; only then is it answered. What a crash left in the journal
// becomes rows with the outcome `lost` when Recover runs at the next start.
//
// # What is in a row
//
// Who, where, which method, with which host, and what came of it. Requests and responses are there as
// digests only: HMAC-SHA-256 keyed with a fresh 32-byte salt, one a digest. The salts are in a table of their own
// and can be erased, after which a digest cannot be tried against guesses. Words that could carry text of
// a page, a typed value, a query or a secret are refused before the action and withheld after it.
//
// # What CDP clients did
//
// A row of kind `cdp` is one second of one session's clients at one host. It is journalled before the first of its
// commands goes down, and written within that second. Its detail counts: commands, and of them writes, reads and refused;
// each method by its name, at most 64 and the rest as `other`; what was refused by its domain (`refused.Network`), since
// its name may be any text. `client.3` is the third client's running digest as of its last message in the row, N:HASH:
// hash 0 is SHA-256 of `chaperone-cdp-1:` and the capability, the last part of the endpoint's address; hash N is SHA-256
// of hash N-1 (its 32 bytes) and the client's N-th message as it was sent. Whoever kept the address and a log of the
// connection can compute it; the capability is written nowhere, so that the ledger alone is no help in guessing.
//
// # The hash
//
// A row's hash is SHA-256 over these fields, in this order: the text `chaperone-ledger-1`, account, seq,
// time, actor kind, actor, run, project, session, kind, direction, peer, method, request digest, response
// digest, outcome, detail, previous hash. Each field is written as a netstring: its length in bytes, a colon,
// the bytes, a comma (`5:click,`). Numbers, and the time in milliseconds since 1970 in UTC, are plain
// decimals; digests and hashes are lower-case hex; detail is a JSON object with sorted keys, or nothing.
// The previous hash of an account's first row is 64 zeros. Rows count from 1 without a hole, and a row's
// time is never before that of the row it follows.
//
// The database refuses a second row after the same hash, an update and a delete. Verify finds what was
// done to the file without it. A whole chain that was rewritten from some row on, heads included, holds
// for Verify; only a checkpoint kept elsewhere shows that.
package ledger
