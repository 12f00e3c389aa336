package program

import (
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

// Decode reads a program as it came over the wire. It refuses unknown fields, names given twice or in another
// case, and text after the program. What it returns has the right shape but is not checked: see Check.
func Decode(data []byte) (Program, error) {
	var p Program
	if err := jsonv2.Unmarshal(data, &p, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Program{}, fmt.Errorf("decode program: %w", err)
	}
	return p, nil
}
