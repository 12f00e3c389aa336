package project

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/netip"
	"net/url"
	"strings"

	"chaperone/server/fault"
	"chaperone/server/store"
)

const (
	codePrefix    = "chaperone1."
	mostCodeBytes = 4096
)

// Code is what a connection code says. Token is a secret.
type Code struct {
	Server  string `json:"server"`
	Token   string `json:"token"`
	Project string `json:"project"`
	Name    string `json:"name"`
}

// String writes the connection code.
func (c Code) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		return "" // four strings always encode
	}
	return codePrefix + base64.RawURLEncoding.EncodeToString(text)
}

// ParseCode reads a connection code, strictly: the known prefix, base64url without padding, one JSON
// object with the four fields and no other, each of which must hold. Space around it is forgiven, for it
// is pasted.
func ParseCode(text string) (Code, error) {
	packed, ours := strings.CutPrefix(strings.TrimSpace(text), codePrefix)
	if !ours || len(packed) > mostCodeBytes || strings.ContainsAny(packed, "\r\n") {
		return Code{}, badCode("this is not a connection code")
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(packed)
	if err != nil {
		return Code{}, badCode("the connection code is damaged")
	}
	var code Code
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&code); err != nil || decoder.More() {
		return Code{}, badCode("the connection code is damaged")
	}
	return code, code.check()
}

func (c Code) check() error {
	server, err := url.Parse(c.Server)
	token, tokenErr := base64.RawURLEncoding.Strict().DecodeString(c.Token)
	switch {
	case err != nil || !isOrigin(server) || originOf(server) != c.Server:
		return badCode("the connection code names no server that may be connected to")
	case tokenErr != nil || len(token) != tokenBytes:
		return badCode("the connection code's token is damaged")
	case !store.IsID("p", c.Project) || !isName(c.Name):
		return badCode("the connection code's project is damaged")
	}
	return nil
}

// isOrigin reports whether u is an origin that a browser may be sent to: https, or http on this machine.
func isOrigin(u *url.URL) bool {
	bare := u.User == nil && (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == "" && u.Hostname() != ""
	return bare && (u.Scheme == "https" || (u.Scheme == "http" && isLoopback(u.Hostname())))
}

func originOf(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

func badCode(message string) error {
	return fault.New(fault.BadRequest, message, "Copy the code again from the dashboard or `chaperone pair`.")
}
