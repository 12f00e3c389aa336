package cdp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxShown bounds how much of a caller's own word stands in a reason.
	maxShown = 64

	// maxDepth bounds how deep params are nested. Chrome 156 answers nothing to 300 levels.
	maxDepth = 200
)

// Raw judges a command of a raw CDP client: params is one JSON object or nothing. The rules are those of Call and the
// ones that are for raw clients alone, but nothing is filled in later: a `$` reference is an object like any other, and
// what may only come from @locate never may. Of rules that refuse, the first one of the highest level says
// why. The cost in memory does not grow with long values.
func (t *Table) Raw(level, method string, params []byte) Verdict {
	rules, known := t.raw[method]
	if !known {
		return t.denyNever(method)
	}
	given, err := members(params)
	switch {
	case isTooDeep(params):
		return deny("%s: params are nested more than %d levels deep", method, maxDepth)
	case err != nil:
		return deny("%s: params are not one plain JSON object", method)
	}
	var refused, by string
	for _, rule := range rules {
		if !reaches(level, rule.Level) {
			continue
		}
		reason := rule.judgeRaw(given)
		if reason == "" {
			return Verdict{}
		}
		if refused == "" || !reaches(by, rule.Level) {
			refused, by = reason, rule.Level
		}
	}
	if refused == "" {
		return deny("%s is not permitted at level %s", method, shown(level))
	}
	return deny("%s: %s", method, refused)
}

// ToSend is what of a permitted command's params goes to the browser: all but the parameters of kind dropped, and of those
// of kind emptied an empty object or list. The answer is the given slice itself where there is none.
func (t *Table) ToSend(method string, params []byte) []byte {
	drops := t.drops[method]
	if drops == nil {
		return params
	}
	given, err := members(params)
	if err != nil {
		return []byte(`{}`)
	}
	if !slices.ContainsFunc(given, func(m member) bool { return drops[m.name] != "" }) {
		return params
	}
	kept := slices.DeleteFunc(slices.Clone(given), func(m member) bool { return drops[m.name] == kindDropped })
	var out bytes.Buffer
	for i, m := range kept {
		out.WriteByte("{,"[min(i, 1)])
		out.Write(m.quoted)
		out.WriteByte(':')
		switch {
		case drops[m.name] == "":
			out.Write(m.value)
		case m.value[0] == '[':
			out.WriteString(`[]`)
		default:
			out.WriteString(`{}`)
		}
	}
	if len(kept) == 0 {
		out.WriteByte('{')
	}
	out.WriteByte('}')
	return out.Bytes()
}

// dropped answers the kinds of the parameters, by method, that are not sent on as they are.
func dropped(methods map[string][]rule) map[string]map[string]string {
	drops := map[string]map[string]string{}
	for method, rules := range methods {
		for _, rule := range rules {
			for name, kind := range rule.Params {
				if kind.name != kindDropped && kind.name != kindEmptied {
					continue
				}
				if drops[method] == nil {
					drops[method] = map[string]string{}
				}
				drops[method][name] = kind.name
			}
		}
	}
	return drops
}

// Writes reports whether the method changes page or browser, or is not permitted at all.
func (t *Table) Writes(method string) bool { return !t.reads[method] }

// EventTold reports whether a raw client of a grant at this level may see the event. What it holds must go through
// Strip all the same.
func (t *Table) EventTold(level, name string) bool {
	permission, known := t.told[name]
	return known && reaches(level, permission.Level)
}

func (t *Table) denyNever(method string) Verdict {
	if why := t.whyNever(method); why != "" {
		return deny("%s is not permitted at any level: %s", shown(method), why)
	}
	return deny("%s is not permitted at any level", shown(method))
}

func (t *Table) whyNever(method string) string {
	if why := t.never[method]; why != "" {
		return why
	}
	domain, _, _ := strings.Cut(method, ".")
	return t.never[domain]
}

// member is one parameter as it was given: a span of the params.
type member struct {
	name   string
	quoted []byte // the name as it was written
	value  []byte
}

// members takes the params apart, sorted by name, and refuses a name that is given twice at any depth: readers disagree
// which one counts.
func members(params []byte) ([]member, error) {
	if len(params) == 0 {
		return nil, nil
	}
	if !utf8.Valid(params) {
		return nil, errors.New("params are not UTF-8")
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(params), jsontext.AllowInvalidUTF8(true))
	if start, err := decoder.ReadToken(); err != nil || start.Kind() != '{' {
		return nil, errors.New("params are not an object")
	}
	var all []member
	for decoder.PeekKind() == '"' {
		name, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		end := decoder.InputOffset()
		given := member{name: text(name), quoted: params[end-int64(len(name)) : end : end]}
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		end = decoder.InputOffset()
		given.value = params[end-int64(len(value)) : end : end]
		all = append(all, given)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("params are more than one object")
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// isTooDeep reports whether JSON is nested deeper than maxDepth; what is no JSON is looked at all the same.
func isTooDeep(params []byte) bool {
	depth, isText := 0, false
	for i := 0; i < len(params); i++ {
		switch c := params[i]; {
		case isText && c == '\\':
			i++
		case c == '"':
			isText = !isText
		case isText:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// judgeRaw says what is wrong with the parameters, in the order of their names; nothing is when it is empty.
func (r rule) judgeRaw(given []member) string {
	for _, m := range given {
		kind, listed := r.Params[m.name]
		if !listed {
			return "parameter " + shown(m.name) + " is not permitted"
		}
		if reason := kind.refuseRaw(m.value, r.headers); reason != "" {
			return m.name + " " + reason
		}
	}
	return r.refuseTogether(func(name string) []byte { return find(given, name) })
}

// shown is a caller's word where it may stand in a sentence: a plain, short one.
func shown(word string) string {
	if len(word) > maxShown || strings.ContainsFunc(word, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("_.@-", r) }) {
		return "(no such name)"
	}
	return word
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
