package relay

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/coder/websocket"

	"chaperone/relay/program"
)

// hello is the extension's first frame.
type hello struct {
	T         string `json:"t"`
	V         int    `json:"v"`
	Extension string `json:"extension"`
	Browser   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"browser"`
	Install string `json:"install"`
	TokenID string `json:"token_id"`
	Nonce   string `json:"nonce"`
	Project string `json:"project"`
	// Features are what the extension has besides the first version of the link.
	Features []string `json:"features"`
}

// negotiated is what both sides have.
func (h hello) negotiated() []string {
	if slices.Contains(h.Features, featureCDP) {
		return []string{featureCDP}
	}
	return []string{}
}

type challenge struct {
	T     string `json:"t"`
	Nonce string `json:"nonce"`
	MAC   string `json:"mac"`
}

type proof struct {
	T    string        `json:"t"`
	MAC  string        `json:"mac"`
	Tabs []program.Tab `json:"tabs"`
}

type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type paired struct {
	T          string        `json:"t"`
	Project    named         `json:"project"`
	Account    string        `json:"account"`
	Level      program.Level `json:"level"`
	HeartbeatS int           `json:"heartbeat_s"`
	ExpiresS   int           `json:"expires_s"`
	Server     string        `json:"server"`
	Features   []string      `json:"features"`
}

// opened is what a greeting found out.
type opened struct {
	hello   hello
	pairing Pairing
	tabs    []program.Tab
}

// greet runs the opening: hello, challenge, proof. The server proves itself first and says why it refuses
// only to who has proved the token; before that every refusal looks like a wrong proof.
func (h *Hub) greet(ctx context.Context, conn *websocket.Conn) (opened, error) {
	conn.SetReadLimit(maxHello)
	hi, err := hearHello(ctx, conn)
	if err != nil {
		return opened{}, err
	}
	pairing, refused := h.lookUp(ctx, hi)
	if isTrouble(refused) {
		return opened{}, refusalOf(refused)
	}
	m := meeting{project: hi.Project, theirs: hi.Nonce, ours: newNonce()}
	if err := write(ctx, conn, challenge{T: kindChallenge, Nonce: m.ours, MAC: m.proof(secretOf(pairing), sideServer)}); err != nil {
		return opened{}, err
	}
	answer, err := hearProof(ctx, conn)
	if err != nil {
		return opened{}, err
	}
	if !m.proves(pairing.Token, answer.MAC) {
		return opened{}, errUnproved()
	}
	if refused != nil {
		return opened{}, refusalOf(refused)
	}
	conn.SetReadLimit(maxInbound)
	return opened{hello: hi, pairing: pairing, tabs: answer.Tabs}, nil
}

// secretOf is the token, or a fresh secret where none is known: the challenge then looks like any other.
func secretOf(p Pairing) string {
	if p.Token == "" {
		return newNonce()
	}
	return p.Token
}

func (h *Hub) lookUp(ctx context.Context, hi hello) (Pairing, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	return h.options.Authority.Pairing(ctx, hi.TokenID, hi.Project)
}

func hearHello(ctx context.Context, conn *websocket.Conn) (hello, error) {
	message, err := hear(ctx, conn)
	if err != nil {
		return hello{}, fmt.Errorf("relay: hear hello: %w", err)
	}
	return readHello(message)
}

func hearProof(ctx context.Context, conn *websocket.Conn) (proof, error) {
	message, err := hear(ctx, conn)
	if err != nil {
		return proof{}, fmt.Errorf("relay: hear proof: %w", err)
	}
	return readProof(message)
}

// hear waits for one frame of the opening. After helloWait the library drops the connection.
func hear(ctx context.Context, conn *websocket.Conn) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	kind, message, err := conn.Read(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		return nil, errMalformed("the link speaks text only")
	}
	return message, nil
}

func write(ctx context.Context, conn *websocket.Conn, head any) error {
	frame, err := buildFrame(head, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, helloWait)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, frame); err != nil {
		return fmt.Errorf("relay: write: %w", err)
	}
	return nil
}

// readHello parses and judges a first frame.
func readHello(message []byte) (hello, error) {
	var hi hello
	line, _ := splitFrame(message)
	if err := readHeader(line, &hi); err != nil {
		return hello{}, errMalformed("hello is not readable")
	}
	switch {
	case hi.T != kindHello:
		return hello{}, errMalformed("the first frame is hello")
	case hi.V != protocolVersion:
		return hello{}, errVersion()
	case !isName(hi.Project), !isName(hi.Install), !isTokenID(hi.TokenID), !isNonce(hi.Nonce):
		return hello{}, errMalformed("hello lacks project, install, token_id or nonce")
	case !isLabel(hi.Browser.Name), !isLabel(hi.Browser.Version), !isLabel(hi.Extension):
		return hello{}, errMalformed("hello does not say which browser and extension")
	}
	return hi, nil
}

// readProof parses a second frame; a second hello is refused like any other.
func readProof(message []byte) (proof, error) {
	var p proof
	line, _ := splitFrame(message)
	if err := readHeader(line, &p); err != nil {
		return proof{}, errMalformed("proof is not readable")
	}
	if p.T != kindProof {
		return proof{}, errMalformed("after challenge comes proof")
	}
	err := validTabs(p.Tabs)
	if errors.Is(err, errOversized) {
		return proof{}, errOverfull()
	}
	if err != nil {
		return proof{}, errMalformed("proof's tabs are not a list of the protocol")
	}
	return p, nil
}

var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	tokenIDPattern = regexp.MustCompile(`^[0-9a-f]{16}$`)
	labelPattern   = regexp.MustCompile(`^[ -~]{1,64}$`)
)

// isName keeps the separator of the proof's text, and all that could confuse a log, out of ids.
func isName(text string) bool { return namePattern.MatchString(text) }

func isTokenID(text string) bool { return tokenIDPattern.MatchString(text) }

// isLabel is for what a person may read.
func isLabel(text string) bool { return labelPattern.MatchString(text) }

// turnAway tells the extension why, where there is something to tell, and closes the socket.
func turnAway(ctx context.Context, conn *websocket.Conn, err error) {
	var r *refusal
	if errors.Is(err, errClosed) {
		_ = conn.Close(websocket.StatusGoingAway, string(ReasonShutdown))
		return
	}
	if !errors.As(err, &r) {
		_ = conn.CloseNow() // it went by itself, said nothing in time, or too much
		return
	}
	_ = write(ctx, conn, r)
	_ = conn.Close(r.status, r.Code)
}
