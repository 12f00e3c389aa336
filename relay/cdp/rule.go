package cdp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
)

// rule is one way in which a method may be called. Why is for who reads the table.
type rule struct {
	Level  string          `json:"level"`
	Not    string          `json:"not"` // what the parameters together may not be
	Why    string          `json:"why"`
	Params map[string]kind `json:"params"`

	headers *headerRules
}

// kind is what a parameter may be: one of values (or an array of them) when there are any, else whatever name says.
type kind struct {
	name   string
	values []any
	bounds *[2]float64 // of a number or integer, both within; none when nil
}

// The kinds of parameters; methods.json says what each means.
const (
	kindString  = "string"
	kindNumber  = "number"
	kindInteger = "integer"
	kindBoolean = "boolean"
	kindObject  = "object"
	kindAny     = "any"
	kindPageURL = "page_url"
	kindLocated = "located"
	kindClip    = "clip"

	// Of raw calls alone.
	kindArray   = "array"
	kindItems   = "items"
	kindHeaders = "headers"
	kindForeign = "foreign"
	kindDrag    = "drag"
	kindDropped = "dropped"
	kindEmptied = "emptied"
)

func (k *kind) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &k.name) == nil || json.Unmarshal(data, &k.values) == nil {
		return nil
	}
	var of struct {
		Items   []any       `json:"items"`
		Number  *[2]float64 `json:"number"`
		Integer *[2]float64 `json:"integer"`
	}
	if err := jsonv2.Unmarshal(data, &of, jsonv2.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("decode parameter kind: %w", err)
	}
	switch {
	case of.Number != nil:
		k.name, k.bounds = kindNumber, of.Number
	case of.Integer != nil:
		k.name, k.bounds = kindInteger, of.Integer
	default:
		k.name, k.values = kindItems, of.Items
	}
	return nil
}

func (r rule) validate() error {
	return r.validateKinds(
		kindString, kindNumber, kindInteger, kindBoolean, kindObject, kindAny, kindPageURL, kindLocated, kindClip,
		kindArray, kindItems, kindHeaders, kindForeign, kindDrag, kindDropped, kindEmptied,
	)
}

func (r rule) validateForPrograms() error {
	return r.validateKinds(kindString, kindNumber, kindInteger, kindBoolean, kindObject, kindAny, kindPageURL, kindLocated, kindClip)
}

func (r rule) validateKinds(known ...string) error {
	if !reaches(levelAct, r.Level) {
		return fmt.Errorf("unknown level %q", r.Level)
	}
	if r.Not != "" && r.Not != notPaste && r.Not != notHuge {
		return fmt.Errorf("unknown combination %q", r.Not)
	}
	for name, kind := range r.Params {
		isList := kind.name == "" && len(kind.values) > 0
		if !isList && !slices.Contains(known, kind.name) || kind.name == kindItems && len(kind.values) == 0 {
			return fmt.Errorf("%s: unknown kind %q", name, kind.name)
		}
	}
	return nil
}

// judge holds the parameters against the rule, in the order of their names so that the reason is always the same.
func (r rule) judge(method string, given map[string]json.RawMessage) Verdict {
	var verdict Verdict
	for _, name := range slices.Sorted(maps.Keys(given)) {
		kind, listed := r.Params[name]
		if !listed {
			return deny("%s: parameter %s is not permitted", method, name)
		}
		if kind.name == kindLocated {
			step, ok := located(name, given[name])
			if !ok {
				return deny("%s: %s must be a reference to a step that ran @locate", method, name)
			}
			verdict.Located = append(verdict.Located, step)
		} else if reason := kind.refuse(given[name]); reason != "" {
			return deny("%s: %s %s", method, name, reason)
		}
	}
	if reason := r.refuseTogether(func(name string) []byte { return given[name] }); reason != "" {
		return deny("%s: %s", method, reason)
	}
	return verdict
}

// refuse says what is wrong with a value; nothing is wrong when it is empty.
func (k kind) refuse(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "is not JSON"
	}
	if len(k.values) > 0 {
		if !slices.ContainsFunc(k.values, func(permitted any) bool { return isSame(permitted, value) }) {
			return "is not one of the permitted values"
		}
		return ""
	}
	if k.name == kindPageURL {
		text, ok := value.(string)
		if !ok || !IsPageURL(text) {
			return "is not an http, https or about:blank address"
		}
		return ""
	}
	if !k.holds(value) && !isReference(value) {
		return k.wrong()
	}
	return ""
}

// wrong says what a value is not.
func (k kind) wrong() string {
	switch {
	case k.name == kindClip:
		return wrongClip
	case k.bounds != nil:
		return "is not of kind " + k.name + ", from " + plain(k.bounds[0]) + " to " + plain(k.bounds[1])
	default:
		return "is not of kind " + k.name
	}
}

func (k kind) holds(value any) bool {
	switch value := value.(type) {
	case string:
		return k.name == kindString || k.name == kindAny
	case bool:
		return k.name == kindBoolean || k.name == kindAny
	case float64:
		return k.holdsFinite(value)
	case map[string]any:
		return k.name == kindObject || k.name == kindAny || k.name == kindClip && mayBeClip(value)
	default:
		return k.name == kindAny
	}
}

func plain(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }

func (k kind) holdsFinite(number float64) bool {
	if k.bounds != nil && (number < k.bounds[0] || number > k.bounds[1]) {
		return false
	}
	return k.name == kindNumber || k.name == kindDropped || k.name == kindAny || k.name == kindInteger && number == math.Trunc(number)
}

func isSame(permitted, value any) bool {
	switch permitted := permitted.(type) {
	case string:
		text, ok := value.(string)
		return ok && text == permitted
	case float64:
		number, ok := value.(float64)
		return ok && number == permitted
	case bool:
		truth, ok := value.(bool)
		return ok && truth == permitted
	default:
		return false
	}
}

func isReference(value any) bool {
	fields, ok := value.(map[string]any)
	if !ok || len(fields) != 1 {
		return false
	}
	_, ok = fields["$"].(string)
	return ok
}

// located takes the step's number from {"$":"N.x"} for the parameter x.
func located(name string, raw json.RawMessage) (int, bool) {
	fields, err := object(raw)
	if err != nil || len(fields) != 1 {
		return 0, false
	}
	var path string
	if json.Unmarshal(fields["$"], &path) != nil {
		return 0, false
	}
	match := regexp.MustCompile(`^(0|[1-9][0-9]{0,2})\.([a-z]+)$`).FindStringSubmatch(path)
	if match == nil || match[2] != name {
		return 0, false
	}
	step, err := strconv.Atoi(match[1])
	return step, err == nil
}

// object takes an object apart and refuses a name that occurs twice: readers disagree which one counts.
func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	if len(raw) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	var fields map[string]json.RawMessage
	if err := jsonv2.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("decode object: %w", err)
	}
	if fields == nil {
		return nil, errors.New("decode object: null")
	}
	return fields, nil
}
