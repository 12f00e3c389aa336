package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// mostRemembered bounds the clients whose chains are kept; the one that was silent longest begins anew.
const mostRemembered = 1024

// chain is a client's running digest: how many messages it has sent and the hash over all of them. Hash 0 is
// SHA-256 of "chaperone-cdp-1:" and the capability, the last part of its addresses; hash n is SHA-256 of hash n-1 (its
// 32 bytes) followed by the n-th message as it was sent. So whoever kept the address and a log of one connection can
// hold them against the ledger, and whoever has the ledger alone cannot try guesses.
type chain struct {
	messages int
	hash     [sha256.Size]byte
	at       int // of all messages of all clients, the latest of this one
}

func (c chain) String() string { return strconv.Itoa(c.messages) + ":" + hex.EncodeToString(c.hash[:]) }

// chains are those of a capability's clients, by their number.
type chains struct {
	start [sha256.Size]byte
	of    map[int]chain
	sum   int
}

func newChains(c Capability) chains {
	address := c.WS()
	secret := address[strings.LastIndexByte(address, '/')+1:]
	return chains{start: sha256.Sum256([]byte("chaperone-cdp-1:" + secret)), of: map[int]chain{}}
}

// add takes one message of a client in.
func (c *chains) add(client int, raw []byte) chain {
	now, ok := c.of[client]
	if !ok {
		c.makeRoom()
		now.hash = c.start
	}
	c.sum++
	h := sha256.New()
	_, _ = h.Write(now.hash[:]) // a hash takes every write
	_, _ = h.Write(raw)
	now.messages++
	now.at = c.sum
	h.Sum(now.hash[:0])
	c.of[client] = now
	return now
}

func (c *chains) makeRoom() {
	if len(c.of) < mostRemembered {
		return
	}
	oldest, at := 0, c.sum+1
	for client, chain := range c.of {
		if chain.at < at {
			oldest, at = client, chain.at
		}
	}
	delete(c.of, oldest)
}

// clear forgets clients who have all left.
func (c *chains) clear() { clear(c.of) }
