package cdp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	methodHistory = "Page.getNavigationHistory"

	// maxStripWord is longer than any name that is taken out, in escapes too.
	maxStripWord = 256
)

type stripLists struct {
	Headers []string `json:"headers"`
	Members []string `json:"members"`
	Exempt  []string `json:"exempt"`
}

// stripping is what events and replies lose.
type stripping struct {
	headers map[string]bool // in lower case
	members map[string]bool
	exempt  []string // domains and methods that lose nothing
}

func newStripping(lists stripLists) stripping {
	s := stripping{headers: map[string]bool{}, members: map[string]bool{}, exempt: lists.Exempt}
	for _, name := range lists.Headers {
		s.headers[name] = true
	}
	for _, name := range lists.Members {
		s.members[name] = true
	}
	return s
}

// Strip takes cookies, credentials and posted forms out of an event's params or a reply's result (by its method), at any
// depth: members and headers by name, and the elements {name, value} of a list of headers. A member that is a list
// becomes an empty one, since readers rely on it. Entries of the history that are no pages lose address and title. The
// answer is the given slice itself where there is nothing to take, and never holds a part that could not be read.
func (t *Table) Strip(method string, params []byte) []byte {
	if method == methodHistory {
		return stripHistory(params)
	}
	domain, _, _ := strings.Cut(method, ".")
	if len(params) == 0 || slices.Contains(t.strip.exempt, domain) || slices.Contains(t.strip.exempt, method) || !t.strip.touches(params) {
		return params
	}
	return t.strip.rewrite(params)
}

// touches reports whether there may be anything to take, or the JSON cannot be read.
func (s stripping) touches(params []byte) bool {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(params), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for first := true; first || decoder.StackDepth() > 0; first = false {
		if decoder.PeekKind() != '"' {
			if _, err := decoder.ReadToken(); err != nil {
				return true
			}
			continue
		}
		// Names and values alike: a list of headers has the name as a value.
		word, err := decoder.ReadValue()
		if err != nil || s.takesRaw(word) {
			return true
		}
	}
	return !isOver(decoder)
}

// isOver reports whether nothing follows the value that was read.
func isOver(decoder *jsontext.Decoder) bool {
	_, err := decoder.ReadToken()
	return errors.Is(err, io.EOF)
}

// takesRaw is takes of a JSON string, without memory for the most of them.
func (s stripping) takesRaw(raw []byte) bool {
	if len(raw) > maxStripWord {
		return false
	}
	word := raw[1 : len(raw)-1]
	if bytes.IndexByte(word, '\\') >= 0 {
		return s.takes(text(raw))
	}
	var lower [maxStripWord]byte
	for i, c := range word {
		switch {
		case c >= utf8.RuneSelf:
			return s.takes(string(word))
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		lower[i] = c
	}
	return s.members[string(word)] || s.headers[string(bytes.TrimSpace(lower[:len(word)]))]
}

func (s stripping) takes(name string) bool { return s.members[name] || s.isHeader(name) }

func (s stripping) isHeader(name string) bool {
	return s.headers[strings.ToLower(strings.TrimSpace(name))]
}

func (s stripping) rewrite(params []byte) []byte {
	var out bytes.Buffer
	r := rewriter{
		stripping: s,
		decoder:   jsontext.NewDecoder(bytes.NewBuffer(params), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		encoder: jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
			jsontext.PreserveRawStrings(true)),
	}
	if r.value() != nil || !isOver(r.decoder) {
		return []byte(`{}`)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

type rewriter struct {
	stripping
	decoder *jsontext.Decoder
	encoder *jsontext.Encoder
}

func (r *rewriter) value() error {
	switch r.decoder.PeekKind() {
	case '{':
		return r.inside(r.member)
	case '[':
		return r.inside(r.element)
	default:
		value, err := r.decoder.ReadValue()
		if err != nil {
			return err
		}
		return r.encoder.WriteValue(value)
	}
}

// inside copies an object or a list, part by part.
func (r *rewriter) inside(part func() error) error {
	if err := r.token(); err != nil {
		return err
	}
	for kind := r.decoder.PeekKind(); kind != '}' && kind != ']'; kind = r.decoder.PeekKind() {
		if err := part(); err != nil {
			return err
		}
	}
	return r.token()
}

func (r *rewriter) token() error {
	token, err := r.decoder.ReadToken()
	if err != nil {
		return err
	}
	return r.encoder.WriteToken(token)
}

func (r *rewriter) member() error {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	name := text(raw)
	if !r.takes(name) {
		if err := r.encoder.WriteValue(raw); err != nil {
			return err
		}
		return r.value()
	}
	isList := r.decoder.PeekKind() == '['
	if err := r.decoder.SkipValue(); err != nil || !isList {
		return err
	}
	if err := r.encoder.WriteToken(jsontext.String(name)); err != nil {
		return err
	}
	return r.encoder.WriteValue(jsontext.Value(`[]`))
}

// element copies one of a list, and leaves {name, value} of a header that is taken out.
func (r *rewriter) element() error {
	if r.decoder.PeekKind() != '{' {
		return r.value()
	}
	value, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	var header struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(value, &header) == nil && header.Value != nil && r.isHeader(header.Name) {
		return nil
	}
	return r.encoder.WriteValue(r.rewrite(bytes.Clone(value)))
}

func stripHistory(result []byte) []byte {
	var history struct {
		CurrentIndex int                          `json:"currentIndex"`
		Entries      []map[string]json.RawMessage `json:"entries"`
	}
	if json.Unmarshal(result, &history) != nil {
		return []byte(`{}`)
	}
	for _, entry := range history.Entries {
		var url string
		if json.Unmarshal(entry["url"], &url) == nil && IsPageURL(url) {
			continue
		}
		entry["url"], entry["userTypedURL"], entry["title"] = json.RawMessage(`"about:blank"`), json.RawMessage(`""`), json.RawMessage(`""`)
	}
	stripped, err := json.Marshal(history)
	if err != nil {
		return []byte(`{}`)
	}
	return stripped
}
