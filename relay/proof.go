package relay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

const nonceBytes = 32

// TokenID is the public name of a pairing token: what a hello carries and an Authority looks up by.
func TokenID(token string) string {
	sum := sha256.Sum256([]byte("chaperone-token-id:" + token))
	return hex.EncodeToString(sum[:])[:16]
}

// side is who proves; its name stands in the proof, so that one side's cannot be sent back as the other's.
type side string

const (
	sideServer    side = "server"
	sideExtension side = "extension"
)

// meeting is what both sides have seen when they prove; the nonces are the texts as they were sent.
type meeting struct{ project, theirs, ours string }

func (m meeting) proof(token string, who side) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("chaperone-link-1|" + string(who) + "|" + m.project + "|" + m.theirs + "|" + m.ours))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// proves compares in constant time. A token that is not known proves nothing.
func (m meeting) proves(token, mac string) bool {
	return hmac.Equal([]byte(m.proof(token, sideExtension)), []byte(mac)) && token != ""
}

func newNonce() string {
	nonce := make([]byte, nonceBytes)
	_, _ = rand.Read(nonce) // never errs: crypto/rand ends the process instead
	return base64.RawURLEncoding.EncodeToString(nonce)
}

// isNonce wants exactly 32 bytes in the one spelling that base64url has for them.
func isNonce(text string) bool {
	nonce, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(nonce) == nonceBytes && base64.RawURLEncoding.EncodeToString(nonce) == text
}
