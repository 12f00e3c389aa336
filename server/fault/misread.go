package fault

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// longestQuoted bounds what a message repeats of what was sent.
const longestQuoted = 80

// Misread says in plain words why JSON from outside could not be decoded: what names the thing that was sent, such as
// "the action", and hint is what to do where the fault is not in the JSON itself. It is a bad_request.
func Misread(err error, what, hint string) *Fault {
	const one = "Send one JSON object."
	subject := strings.ToUpper(what[:1]) + what[1:]
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var base base64.CorruptInputError
	switch {
	case errors.Is(err, io.EOF):
		return New(BadRequest, subject+" is empty", one)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return New(BadRequest, subject+" is not JSON: it ends too early", one)
	case errors.As(err, &syntax):
		return New(BadRequest, subject+" is not JSON: it goes wrong at byte "+strconv.FormatInt(syntax.Offset, 10), one)
	case errors.As(err, &kind) && kind.Field == "":
		return New(BadRequest, subject+" is "+given(kind.Value)+" where "+wanted(kind.Type)+" is wanted", one)
	case errors.As(err, &kind):
		return New(BadRequest, "The field "+quoted(kind.Field)+" holds "+given(kind.Value)+" where "+wanted(kind.Type)+" is wanted", hint)
	case errors.As(err, &base):
		return New(BadRequest, subject+" has bytes that are not written as base64", "Write them in standard base64, with its padding.")
	}
	if name, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field "); isUnknown {
		if plain, unquoted := strconv.Unquote(name); unquoted == nil {
			name = plain
		}
		return New(BadRequest, subject+" has an unknown field "+quoted(name), hint)
	}
	return New(BadRequest, subject+" does not read", hint)
}

// given is a kind of value as encoding/json calls it.
func given(value string) string {
	if number, is := strings.CutPrefix(value, "number "); is {
		return "the number " + number[:min(len(number), longestQuoted)]
	}
	words := map[string]string{"string": "text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}
	if word, known := words[value]; known {
		return word
	}
	return "something else"
}

// wanted is a kind of value as its type calls it.
func wanted(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the others are no field's
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64 text"
		}
		return "a list"
	case reflect.Pointer:
		return wanted(t.Elem())
	}
	return "an object"
}

func quoted(name string) string {
	if len(name) > longestQuoted {
		name = name[:longestQuoted] + "…"
	}
	return strconv.QuoteToASCII(name)
}
