package account

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	accessLifetime = 15 * time.Minute
	issuer         = "chaperone"
	audience       = "chaperone-api"
)

// signer makes and reads access tokens. One algorithm is pinned; issuer, audience and expiry are required.
type signer struct {
	key    []byte
	parser *jwt.Parser
	late   *jwt.Parser // overlooks an expiry
	now    func() time.Time
}

// lateness is how long after its expiry an access token still says of which login it is. What it was given then ends
// long before.
const lateness = 30 * 24 * time.Hour

// claims are what an access token says: whose it is and of which login it came.
type claims struct {
	jwt.RegisteredClaims
	Family string `json:"fam"`
}

func newSigner(key []byte, now func() time.Time) signer {
	late := []jwt.ParserOption{
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(audience),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(now),
		jwt.WithLeeway(lateness),
	}
	return signer{key: key, now: now, parser: jwt.NewParser(late[:len(late)-1]...), late: jwt.NewParser(late...)}
}

func (s signer) sign(account, family string) (token string, expires time.Time, err error) {
	now := s.now()
	until := jwt.NewNumericDate(now.Add(accessLifetime)) // in whole seconds
	token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    issuer,
			Audience:  jwt.ClaimStrings{audience},
			Subject:   account,
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: until,
		},
		Family: family,
	}).SignedString(s.key)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("sign access token: %w", err)
	}
	return token, until.Time, nil
}

func (s signer) read(token string) (claims, error) { return s.parse(s.parser, token) }

// readLate reads a token that may have expired.
func (s signer) readLate(token string) (claims, error) { return s.parse(s.late, token) }

func (s signer) parse(parser *jwt.Parser, token string) (claims, error) {
	var said claims
	_, err := parser.ParseWithClaims(token, &said, func(*jwt.Token) (any, error) { return s.key, nil })
	return said, err
}
