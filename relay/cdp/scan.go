package cdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Message is one CDP command as a client sent it. ID and Params are spans of the scanned bytes.
type Message struct {
	ID      []byte // an integer as it was written, so that it can be echoed
	Method  string
	Session string // the CDP sessionId; empty for the connection's own
	Params  []byte // one JSON object, its names unchecked; nil when there were none
}

// Why a message is no command. A message whose id was read before the fault has it all the same.
var (
	ErrNotJSON       = errors.New("message is not one JSON object in UTF-8")
	ErrMessageID     = errors.New("message must have one integer id")
	ErrMessageMethod = errors.New("message must have one method, a string")
	ErrMessageParams = errors.New("message may have one params, an object")
	ErrSession       = errors.New("message may have one sessionId, a string")
	ErrMessageName   = errors.New("message has another property than id, method, sessionId and params")
)

// Scan takes a command apart in one pass without decoding its params: what it costs in memory does not grow with them.
// Names are exact, and one that is given twice is refused, as Chrome refuses it: readers disagree which one counts. params
// of null are none, as in Chrome. What is accepted reads the same in encoding/json. Each error is one of the above, with
// Message.ID set when the id was read before it; the whole message has been looked at only when there is no error.
func Scan(message []byte) (Message, error) {
	if !utf8.Valid(message) {
		return Message{}, ErrNotJSON
	}
	// Escaped lone surrogates stay permitted: JavaScript's own JSON.stringify writes them.
	decoder := jsontext.NewDecoder(bytes.NewBuffer(message), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	s := scanner{message: message, decoder: decoder}
	if err := s.object(); err != nil {
		return Message{ID: s.found.ID}, err
	}
	switch {
	case s.found.ID == nil:
		return Message{}, ErrMessageID
	case s.found.Method == "":
		return Message{ID: s.found.ID}, ErrMessageMethod
	default:
		return s.found, nil
	}
}

type scanner struct {
	message []byte
	decoder *jsontext.Decoder
	found   Message

	hasMethod, hasSession, hasParams bool
}

func (s *scanner) object() error {
	if start, err := s.decoder.ReadToken(); err != nil || start.Kind() != '{' {
		return ErrNotJSON
	}
	for s.decoder.PeekKind() == '"' {
		name, err := s.value()
		if err != nil {
			return err
		}
		value, err := s.value()
		if err != nil {
			return err
		}
		if err := s.member(text(name), value); err != nil {
			return err
		}
	}
	if end, err := s.decoder.ReadToken(); err != nil || end.Kind() != '}' {
		return ErrNotJSON
	}
	if _, err := s.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return ErrNotJSON
	}
	return nil
}

// value is the next value's own bytes in the message; the decoder's may be overwritten.
func (s *scanner) value() ([]byte, error) {
	value, err := s.decoder.ReadValue()
	if err != nil {
		return nil, ErrNotJSON
	}
	end := s.decoder.InputOffset()
	return s.message[end-int64(len(value)) : end : end], nil
}

func (s *scanner) member(name string, value []byte) error {
	switch name {
	case "id":
		if s.found.ID != nil || !isInteger(value) {
			return ErrMessageID
		}
		s.found.ID = value
	case "method":
		return once(&s.hasMethod, &s.found.Method, value, ErrMessageMethod)
	case "sessionId":
		return once(&s.hasSession, &s.found.Session, value, ErrSession)
	case "params":
		return s.params(value)
	default:
		return ErrMessageName
	}
	return nil
}

// once takes a string that may stand there once.
func once(seen *bool, found *string, value []byte, wrong error) error {
	if *seen || value[0] != '"' {
		return wrong
	}
	*seen, *found = true, text(value)
	return nil
}

func (s *scanner) params(value []byte) error {
	switch {
	case s.hasParams:
		return ErrMessageParams
	case value[0] == '{':
		s.found.Params = value
	case string(value) != "null":
		return ErrMessageParams
	}
	s.hasParams = true
	return nil
}

func isInteger(value []byte) bool {
	_, err := strconv.ParseInt(string(value), 10, 64)
	return err == nil
}

// text decodes a JSON string as encoding/json does.
func text(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var decoded string
	if json.Unmarshal(raw, &decoded) != nil {
		return ""
	}
	return decoded
}
