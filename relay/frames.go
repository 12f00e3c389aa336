package relay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"chaperone/relay/program"
)

// The kinds of frames (docs/relay.md).
const (
	kindHello      = "hello"
	kindChallenge  = "challenge"
	kindProof      = "proof"
	kindPaired     = "paired"
	kindRefused    = "refused"
	kindPing       = "ping"
	kindPong       = "pong"
	kindTabs       = "tabs"
	kindProgram    = "program"
	kindResult     = "result"
	kindError      = "error"
	kindCancel     = "cancel"
	kindCast       = "cast"
	kindPicture    = "picture"
	kindEnd        = "end"
	kindDone       = "done"
	kindLevel      = "level"
	kindDisconnect = "disconnect"
	kindHold       = "hold"
	kindHeld       = "held"
	kindDrop       = "drop"
	kindCDP        = "cdp"
	kindReply      = "reply"
	kindEvent      = "event"
	kindAsleep     = "asleep"
	kindNew        = "new"
	kindMade       = "made"
	kindShut       = "shut"
)

// featureCDP is the raw road: holds, raw commands and their events.
const featureCDP = "cdp"

// inward is the first line of a frame from a paired extension; each kind uses the fields it has.
type inward struct {
	T       string        `json:"t"`
	ID      int64         `json:"id"`
	Code    string        `json:"code"`
	Message string        `json:"message"`
	AtMS    int64         `json:"at_ms"`
	Width   int           `json:"width"`
	Height  int           `json:"height"`
	Tabs    []program.Tab `json:"tabs"`
	Tab     string        `json:"tab"`
	Target  string        `json:"target"`
	Child   string        `json:"child"`
	Method  string        `json:"method"`
	// Error is the browser's own refusal of a raw command.
	Error *program.CallError `json:"error"`
}

// outward is the first line of a frame to a paired extension.
type outward struct {
	T       string               `json:"t"`
	ID      int64                `json:"id,omitempty"`
	Session string               `json:"session,omitempty"`
	Options *program.CastOptions `json:"options,omitempty"`
	Level   program.Level        `json:"level,omitempty"`
	Tab     string               `json:"tab,omitempty"`
	Child   string               `json:"child,omitempty"`
	Method  string               `json:"method,omitempty"`
}

// errOversized says that a frame is of the protocol but larger than it permits. What is in it may be a page's doing
// (its address, its title), so it never ends a link for good.
var errOversized = errors.New("relay: over the protocol's bounds")

// scanFrame parses a message's first line and hands the rest on unread. It never keeps more than message.
func scanFrame(message []byte) (inward, []byte, error) {
	line, body := splitFrame(message)
	if id, ok := plainReply(line); ok {
		return inward{T: kindReply, ID: id}, body, nil
	}
	var head inward
	if err := readHeader(line, &head); err != nil {
		return inward{}, nil, err
	}
	if err := validTabs(head.Tabs); err != nil {
		return inward{}, nil, err
	}
	if !isToken(head.Child) || !isToken(head.Method) || !isToken(head.Target) {
		return inward{}, nil, errors.New("relay: child, method or target is not a name of CDP's")
	}
	return head, body, nil
}

// plainReply reads a raw command's answer as the extension writes it, which most frames are; all else is left to be
// read as JSON.
func plainReply(line []byte) (id int64, ok bool) {
	rest, isReply := bytes.CutPrefix(line, []byte(`{"t":"`+kindReply+`","id":`))
	digits, isWhole := bytes.CutSuffix(rest, []byte{'}'})
	if !isReply || !isWhole || len(digits) == 0 || len(digits) > 15 || digits[0] == '0' {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		id = id*10 + int64(c-'0')
	}
	return id, true
}

// isToken is true for what CDP uses as a name, and for nothing at all: such a name stands in any JSON text as it is.
func isToken(text string) bool {
	if len(text) > maxToken {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-', c == ':':
		default:
			return false
		}
	}
	return true
}

func splitFrame(message []byte) (line, body []byte) {
	line, body, _ = bytes.Cut(message, []byte{'\n'})
	return line, body
}

func readHeader(line []byte, into any) error {
	if len(line) > maxHeader {
		return fmt.Errorf("%w: header of %d bytes, at most %d", errOversized, len(line), maxHeader)
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("relay: read header: %w", err)
	}
	return nil
}

// buildFrame is the inverse; the body, if any, is the JSON of body.
func buildFrame(head, body any) ([]byte, error) {
	frame, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("relay: write header: %w", err)
	}
	if body == nil {
		return frame, nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("relay: write body: %w", err)
	}
	return append(append(frame, '\n'), text...), nil
}

// validTabs holds a list against the protocol: the rest of the relay may believe that names are unique.
func validTabs(tabs []program.Tab) error {
	if len(tabs) > maxTabs {
		return fmt.Errorf("%w: %d tabs, at most %d", errOversized, len(tabs), maxTabs)
	}
	seen := make(map[string]bool, len(tabs))
	for _, t := range tabs {
		if t.ID == "" || t.ID == program.NewTab || seen[t.ID] {
			return fmt.Errorf("relay: tab name %q is empty, reserved or used twice", t.ID)
		}
		if !isToken(t.Target) {
			return errors.New("relay: a tab's target is not a name of CDP's")
		}
		if t.Level != program.LevelRead && t.Level != program.LevelAct {
			return errors.New("relay: a tab has no such level")
		}
		seen[t.ID] = true
	}
	return nil
}
