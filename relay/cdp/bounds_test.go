package cdp_test

import (
	"encoding/json"
	"testing"
)

func TestFilled(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	var cases struct {
		Calls []struct {
			Name   string          `json:"name"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Reason string          `json:"reason"`
		} `json:"calls"`
	}
	readVectors(t, "testdata/filled.json", &cases)
	for _, c := range cases.Calls {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if verdict := table.Filled(c.Method, c.Params); verdict.Reason != c.Reason || len(verdict.Located) > 0 {
				t.Errorf("%+v, want %q", verdict, c.Reason)
			}
		})
	}
}
