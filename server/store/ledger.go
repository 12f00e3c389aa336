package store

import "time"

// LedgerRow is one row of an account's ledger. Digests and hashes are lower-case hex; Detail is JSON.
type LedgerRow struct {
	Account        string    `json:"account"`
	Seq            int64     `json:"seq"`
	Time           time.Time `json:"time"`
	ActorKind      string    `json:"actor_kind"`
	ActorID        string    `json:"actor"`
	Run            string    `json:"run,omitempty"`
	Project        string    `json:"project,omitempty"`
	Session        string    `json:"session,omitempty"`
	Kind           string    `json:"kind"`
	Direction      string    `json:"direction,omitempty"`
	Peer           string    `json:"peer,omitempty"`
	Method         string    `json:"method"`
	RequestDigest  string    `json:"request_digest,omitempty"`
	ResponseDigest string    `json:"response_digest,omitempty"`
	Outcome        string    `json:"outcome"`
	Detail         string    `json:"detail,omitempty"`
	PrevHash       string    `json:"prev_hash"`
	Hash           string    `json:"hash"`
}

// LedgerFilter picks rows, newest first; a zero field means any, but Account is required. Before is the
// lowest seq of the page before. Limit 0 means 50, and 500 is the most.
type LedgerFilter struct {
	Account string
	Kind    string
	Project string
	Session string
	Peer    string
	Since   time.Time
	Until   time.Time
	Before  int64
	Limit   int
}
