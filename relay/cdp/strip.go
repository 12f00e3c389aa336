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

	// hidden stands for the value of a header whose name is not known to be harmless.
	hidden = "[hidden]"
)

type stripLists struct {
	Headers []string `json:"headers"`
	Members []string `json:"members"`
	Exempt  []string `json:"exempt"`

	Shown         []string `json:"shown"`
	ShownPrefixes []string `json:"shown_prefixes"`
	HeaderMembers []string `json:"header_members"`
}

// stripping is what events and replies lose.
type stripping struct {
	headers map[string]bool // in lower case
	members map[string]bool
	exempt  []string // domains and methods that lose nothing

	shown    map[string]bool // headers, in lower case, that keep their value
	prefixes []string        // of such
	holders  map[string]bool // members that hold headers
}

func newStripping(lists stripLists) stripping {
	return stripping{
		headers: set(lists.Headers), members: set(lists.Members), exempt: lists.Exempt,
		shown: set(lists.Shown), prefixes: lists.ShownPrefixes, holders: set(lists.HeaderMembers),
	}
}

func set(names []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// Strip takes cookies, credentials and posted forms out of an event's params or a reply's result (by its method), at any
// depth: members and headers by name, and the elements {name, value} of a list of headers. A member that is a list
// becomes an empty one, since readers rely on it. Headers that are not known to be harmless keep their name alone, and
// addresses lose user and password. Entries of the history that are no pages lose address and title. The
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
		if err != nil || s.takesRaw(word) || hasUser(word) {
			return true
		}
		if s.holders[string(word[1:len(word)-1])] && s.touchesHeld(decoder) {
			return true
		}
	}
	return !isOver(decoder)
}

// touchesHeld is touches of what a member that may hold headers holds.
func (s stripping) touchesHeld(decoder *jsontext.Decoder) bool {
	if kind := decoder.PeekKind(); kind != '{' {
		return kind == '['
	}
	if _, err := decoder.ReadToken(); err != nil {
		return true
	}
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadValue()
		if err != nil || s.takesRaw(name) || !s.isShown(text(name)) {
			return true
		}
		value, err := decoder.ReadValue()
		if err != nil || value[0] != '"' || hasUser(value) {
			return true
		}
	}
	_, err := decoder.ReadToken()
	return err != nil
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

func (s stripping) isShown(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	return s.shown[name] || slices.ContainsFunc(s.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
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
		if hasUser(value) {
			return r.encoder.WriteToken(jsontext.String(withoutUser(text(value))))
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
		return r.held(name)
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

// held copies the value of a member, and hides what is in headers.
func (r *rewriter) held(name string) error {
	switch kind := r.decoder.PeekKind(); {
	case !r.holders[name]:
		return r.value()
	case kind == '{':
		return r.inside(r.header)
	case kind == '[':
		return r.inside(r.listed)
	default:
		return r.value()
	}
}

// header copies one of an object of headers.
func (r *rewriter) header() error {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	name := text(raw)
	if r.takes(name) {
		return r.decoder.SkipValue()
	}
	if err := r.encoder.WriteValue(raw); err != nil {
		return err
	}
	if r.isShown(name) {
		return r.value()
	}
	if err := r.decoder.SkipValue(); err != nil {
		return err
	}
	return r.encoder.WriteToken(jsontext.String(hidden))
}

// listed copies one of a list of headers, each an object with its name and value.
func (r *rewriter) listed() error {
	value, err := r.decoder.ReadValue()
	if err != nil {
		return err
	}
	header, isHeader := pairOf(value)
	if !isHeader || r.takes(header.Name) {
		return nil
	}
	header.Value = withoutUser(header.Value)
	if !r.isShown(header.Name) {
		header.Value = hidden
	}
	plain, err := json.Marshal(header)
	if err != nil {
		return err
	}
	return r.encoder.WriteValue(plain)
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func pairOf(raw []byte) (pair, bool) {
	var p pair
	err := json.Unmarshal(raw, &p)
	return p, err == nil && raw[0] == '{'
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
