package store

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"
)

// NewID makes an id: prefix, `_` and a ULID of now, whose 80 other bits are unguessable.
func NewID(prefix string, now time.Time) (string, error) {
	id, err := ulid.New(ulid.Timestamp(now), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make %s id: %w", prefix, err)
	}
	return prefix + "_" + id.String(), nil
}

// IsID reports whether text is an id with this prefix, written as NewID writes it.
func IsID(prefix, text string) bool {
	if len(text) != len(prefix)+1+ulid.EncodedSize || text[:len(prefix)+1] != prefix+"_" {
		return false
	}
	id, err := ulid.ParseStrict(text[len(prefix)+1:])
	return err == nil && id.String() == text[len(prefix)+1:]
}
