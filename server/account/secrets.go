package account

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// Secrets seals what must be kept readable (pairing tokens) and derives keys for other rooms, all from
// one 0600 key file. It is safe for concurrent use.
type Secrets struct {
	root []byte
	aead cipher.AEAD
}

// errUnsealable says no more: what is wrong with a sealed text tells an attacker something.
var errUnsealable = errors.New("it was not sealed here, or not for this place")

// OpenSecrets loads secret.key from dir, making it when there is none. It refuses, in words, a key of the
// wrong length or a file that others may read.
func OpenSecrets(dir string) (*Secrets, error) {
	root, err := loadKey(dir, secretKeyFile)
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	s := &Secrets{root: root}
	key, err := s.Key("seal")
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	s.aead, err = cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("open secrets: %w", err)
	}
	return s, nil
}

// Seal encrypts plain with AES-256-GCM for one place; only Open with the same place reads it.
func (s *Secrets) Seal(place, plain string) string {
	//nolint:gosec // this AEAD draws a nonce of its own and puts it in front
	sealed := s.aead.Seal(nil, nil, []byte(plain), []byte(place))
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open decrypts what Seal made for the same place.
func (s *Secrets) Open(place, sealed string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", fmt.Errorf("unseal %s: %w", place, errUnsealable)
	}
	plain, err := s.aead.Open(nil, nil, raw, []byte(place))
	if err != nil {
		return "", fmt.Errorf("unseal %s: %w", place, errUnsealable)
	}
	return string(plain), nil
}

// Key derives a 32-byte key for one purpose (HKDF-SHA-256); another purpose's key says nothing about it.
func (s *Secrets) Key(purpose string) ([]byte, error) {
	return hkdf.Key(sha256.New, s.root, nil, "chaperone "+purpose, keyBytes)
}
