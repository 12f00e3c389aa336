// Package ledger keeps, for each account, an append-only chain of rows that proves afterwards what was
// done, by whom and with which outcome.
package ledger
