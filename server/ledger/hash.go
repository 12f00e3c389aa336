package ledger

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	hashVersion = "chaperone-ledger-1"
	saltBytes   = 32
)

// genesis is the previous hash of an account's first row.
func genesis() string { return strings.Repeat("0", hex.EncodedLen(sha256.Size)) }

// HashRow computes the hash that a row must have; doc.go says over which bytes.
func HashRow(r Row) string {
	h := sha256.New()
	for _, field := range []string{
		hashVersion, r.Account, strconv.FormatInt(r.Seq, 10), strconv.FormatInt(r.Time.UnixMilli(), 10),
		r.ActorKind, r.ActorID, r.Run, r.Project, r.Session, r.Kind, r.Direction, r.Peer, r.Method,
		r.RequestDigest, r.ResponseDigest, r.Outcome, r.Detail, r.PrevHash,
	} {
		_, _ = fmt.Fprintf(h, "%d:%s,", len(field), field) // a hash takes every write
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digest is the salted digest of content, with its salt, both hex; nothing for nil content.
func digest(content []byte) (sum, salt string, err error) {
	if content == nil {
		return "", "", nil
	}
	key := make([]byte, saltBytes)
	if _, err := io.ReadFull(rand.Reader, key); err != nil {
		return "", "", err
	}
	return keyed(key, content), hex.EncodeToString(key), nil
}

// matches reports whether sum is the digest of content under a salt.
func matches(sum, salt string, content []byte) (bool, error) {
	if sum == "" || content == nil {
		return sum == "" && content == nil, nil
	}
	key, err := hex.DecodeString(salt)
	if err != nil {
		return false, fmt.Errorf("decode salt: %w", err)
	}
	return hmac.Equal([]byte(keyed(key, content)), []byte(sum)), nil
}

func keyed(salt, content []byte) string {
	mac := hmac.New(sha256.New, salt)
	mac.Write(content)
	return hex.EncodeToString(mac.Sum(nil))
}
