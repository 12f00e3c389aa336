// Package store keeps all durable truth in one SQLite file and is the only room that speaks SQL.
//
// It owns the schema, its numbered migrations, the two connection pools (one writer, many readers) and a
// typed query for each thing the domain rooms ask. It knows rows, not rules: who may see a project, what
// a ledger hash covers or when a session has failed is decided above it.
//
// Its life: Open makes or checks the private data folder and file, brings the schema up to date and
// refuses one that a newer program wrote; domain rooms query; Close ends both pools.
//
// Every statement names the account it is for. The few that cannot, because finding the account is what
// they are for (a bearer's hash, a pairing's token id, a signed link), say AnyAccount in their name.
package store
