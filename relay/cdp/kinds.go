package cdp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of what a raw client gives.
const (
	maxHeaders     = 32
	maxHeaderName  = 64
	maxHeaderValue = 4096
	maxForeignName = 200
	maxItems       = 64
	maxShort       = 512 // bytes of a number, or of a value of a list: longer ones are not decoded
)

// ownName is how the names of the page script's world and door begin; nobody else's may.
const ownName = "chaperone"

type ownHeaders struct {
	Names    []string `json:"names"`
	Prefixes []string `json:"prefixes"`
}

// headerRules say which request headers a raw client may not set.
type headerRules struct {
	names    []string
	prefixes []string
}

func newHeaderRules(secret []string, own ownHeaders) *headerRules {
	return &headerRules{names: slices.Concat(secret, own.Names), prefixes: own.Prefixes}
}

// refuseRaw says what is wrong with a value; nothing is when it is empty. Only short values are decoded.
func (k kind) refuseRaw(raw []byte, headers *headerRules) string {
	switch k.name {
	case kindHeaders:
		return headers.refuse(raw)
	case kindLocated:
		return "may only come from @locate, in a program"
	}
	if k.admits(raw) {
		return ""
	}
	switch k.name {
	case "":
		return "is not one of the permitted values"
	case kindItems:
		return "is not a list of permitted values"
	case kindPageURL:
		return "is not an http, https or about:blank address"
	case kindForeign:
		return "is not a name of the client's own"
	case kindDrag:
		return "is not a drag of items without files"
	default:
		return k.wrong()
	}
}

func (k kind) admits(raw []byte) bool {
	switch k.name {
	case "":
		return k.isListed(raw)
	case kindItems:
		return k.isListOfListed(raw)
	case kindPageURL:
		return raw[0] == '"' && IsPageURL(text(raw))
	case kindForeign:
		return raw[0] == '"' && isForeign(text(raw))
	case kindDrag:
		return isDragWithoutFiles(raw)
	case kindClip:
		return isClip(raw)
	default:
		return k.holdsRaw(raw)
	}
}

func (k kind) holdsRaw(raw []byte) bool {
	switch raw[0] {
	case '"':
		return k.is(kindString, kindAny)
	case 't', 'f':
		return k.is(kindBoolean, kindAny)
	case '{':
		return k.is(kindObject, kindEmptied, kindAny)
	case '[':
		return k.is(kindArray, kindEmptied, kindAny)
	case 'n':
		return k.is(kindAny)
	default:
		return k.holdsNumber(raw)
	}
}

func (k kind) is(names ...string) bool { return slices.Contains(names, k.name) }

func (k kind) holdsNumber(raw []byte) bool {
	number, ok := short(raw).(float64)
	return ok && k.holdsFinite(number)
}

func (k kind) isListed(raw []byte) bool {
	value := short(raw)
	return slices.ContainsFunc(k.values, func(permitted any) bool { return isSame(permitted, value) })
}

// short decodes a string, number or boolean that is not long; it is nil for all else.
func short(raw []byte) any {
	if len(raw) == 0 || len(raw) > maxShort {
		return nil
	}
	switch raw[0] {
	case '"':
		return text(raw)
	case 't', 'f':
		return raw[0] == 't'
	case '{', '[', 'n':
		return nil
	default:
		number, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return nil
		}
		return number
	}
}

func (k kind) isListOfListed(raw []byte) bool {
	var items []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &items) != nil || len(items) > maxItems {
		return false
	}
	return !slices.ContainsFunc(items, func(item json.RawMessage) bool { return !k.isListed(item) })
}

// isForeign reports whether a world or binding of this name is none of the page script's.
func isForeign(name string) bool {
	return utf8.RuneCountInString(name) <= maxForeignName && !strings.HasPrefix(strings.ToLower(name), ownName)
}

func isDragWithoutFiles(raw []byte) bool {
	data, err := members(raw)
	if raw[0] != '{' || err != nil {
		return false
	}
	return !slices.ContainsFunc(data, func(m member) bool {
		switch m.name {
		case "items":
			return m.value[0] != '['
		case "dragOperationsMask":
			return !kind{name: kindInteger}.holdsRaw(m.value)
		case "files":
			var files []json.RawMessage
			return m.value[0] != '[' || json.Unmarshal(m.value, &files) != nil || len(files) > 0
		default:
			return true
		}
	})
}

func (h *headerRules) refuse(raw []byte) string {
	given, err := members(raw)
	if raw[0] != '{' || err != nil {
		return "is not of kind headers"
	}
	if len(given) > maxHeaders {
		return "has too many headers"
	}
	for _, m := range given {
		switch {
		case !isHeaderName(m.name):
			return "has a header whose name is none"
		case !h.permits(strings.ToLower(m.name)):
			return "has the header " + shown(m.name) + ", which is not the client's to set"
		case m.value[0] != '"' || !isHeaderValue(text(m.value)):
			return "has a header whose value is none"
		}
	}
	return ""
}

func (h *headerRules) permits(name string) bool {
	return !slices.Contains(h.names, name) &&
		!slices.ContainsFunc(h.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func isHeaderName(name string) bool {
	return name != "" && len(name) <= maxHeaderName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+.^_|~-", r) })
}

func isHeaderValue(value string) bool {
	return utf8.RuneCountInString(value) <= maxHeaderValue && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
