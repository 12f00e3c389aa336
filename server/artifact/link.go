package artifact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"chaperone/server/fault"
)

// Link is the expiry (in seconds since 1970) and the signature of a signed link, as they stand in its
// query.
type Link struct {
	Until     int64
	Signature string
}

// Sign makes a link to one artifact that holds until then.
func (a *Artifacts) Sign(id string, until time.Time) Link {
	return Link{Until: until.Unix(), Signature: a.signature(id, until.Unix())}
}

// CheckSignature answers, as a fault, a link that is not ours, is for another artifact, or has expired.
func (a *Artifacts) CheckSignature(id string, link Link) error {
	if !hmac.Equal([]byte(link.Signature), []byte(a.signature(id, link.Until))) {
		return fault.New(fault.Unauthorised, "this link is not valid", "Ask for the artifact again.")
	}
	if a.config.Now().Unix() >= link.Until {
		return fault.New(fault.Unauthorised, "this link has expired", "Ask for the artifact again.")
	}
	return nil
}

func (a *Artifacts) signature(id string, until int64) string {
	mac := hmac.New(sha256.New, a.config.LinkKey)
	_, _ = fmt.Fprintf(mac, "artifact %q until %d", id, until) // a hash takes every write
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
