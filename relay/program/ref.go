package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// refKey is the one key of a reference's object.
const refKey = "$"

// parsePath takes "N.path" apart. Numbers are written without leading zeros.
func parsePath(path string) (step int, keys []string, err error) {
	parts := strings.Split(path, ".")
	step, ok := parseIndex(parts[0])
	if !ok || slices.Contains(parts, "") {
		return 0, nil, fmt.Errorf("reference %q is not a step's number and a path", path)
	}
	return step, parts[1:], nil
}

func parseIndex(text string) (int, bool) {
	index, err := strconv.Atoi(text)
	return index, err == nil && index >= 0 && strconv.Itoa(index) == text
}

// paths lists the references in a decoded JSON value, and fails where an object holds "$" and is not a reference.
func paths(value any) ([]string, error) {
	switch value := value.(type) {
	case []any:
		return collect(slices.Values(value))
	case map[string]any:
		if path, isRef := value[refKey]; isRef {
			text, isText := path.(string)
			if !isText || len(value) != 1 {
				return nil, errors.New(`an object with "$" is a reference and holds nothing but a path`)
			}
			return []string{text}, nil
		}
		return collect(maps.Values(value))
	default:
		return nil, nil
	}
}

func collect(values func(func(any) bool)) ([]string, error) {
	var all []string
	for value := range values {
		found, err := paths(value)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// resolve fills the references in raw with the results of earlier steps. Nothing stays nothing.
func resolve(raw json.RawMessage, results []json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	value, err := decodeAny(raw)
	if err != nil {
		return nil, err
	}
	if value, err = fill(value, results); err != nil {
		return nil, err
	}
	return encode(value)
}

func fill(value any, results []json.RawMessage) (any, error) {
	var err error
	switch value := value.(type) {
	case []any:
		for i := range value {
			if value[i], err = fill(value[i], results); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if path, isRef := value[refKey].(string); isRef {
			return lookUp(path, results)
		}
		for key := range value {
			if value[key], err = fill(value[key], results); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// lookUp follows a path into the results.
func lookUp(path string, results []json.RawMessage) (any, error) {
	step, keys, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	if step >= len(results) {
		return nil, fmt.Errorf("reference %q leads to a step without a result", path)
	}
	value, err := decodeAny(results[step])
	for _, key := range keys {
		if err != nil {
			return nil, err
		}
		if value, err = child(value, key); err != nil {
			return nil, fmt.Errorf("reference %q leads nowhere", path)
		}
	}
	return value, err
}

func child(value any, key string) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		if found, ok := value[key]; ok {
			return found, nil
		}
	case []any:
		if index, ok := parseIndex(key); ok && index < len(value) {
			return value[index], nil
		}
	}
	return nil, errors.New("no such value")
}

// isTruthy is JavaScript's reading of a decoded JSON value.
func isTruthy(value any) bool {
	switch value := value.(type) {
	case nil:
		return false
	case bool:
		return value
	case string:
		return value != ""
	case json.Number:
		number, err := value.Float64()
		return err != nil || number != 0
	default:
		return true
	}
}

// decodeAny keeps numbers as they were written.
func decodeAny(raw json.RawMessage) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("decode value: %w", err)
	}
	return value, nil
}

func encode(value any) (json.RawMessage, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	return raw, nil
}
