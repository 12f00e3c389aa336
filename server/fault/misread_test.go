package fault_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"chaperone/server/fault"
)

func TestWhatDoesNotReadIsToldInPlainWords(t *testing.T) {
	cases := map[string]struct{ raw, says string }{
		"nothing":                            {``, "The order is empty"},
		"something cut off":                  {`{"n":`, "The order is not JSON: it ends too early"},
		"something else than JSON":           {`{"n":x}`, "The order is not JSON: it goes wrong at byte 6"},
		"a list":                             {`[]`, "The order is a list where an object is wanted"},
		"a text":                             {`"x"`, "The order is text where an object is wanted"},
		"a text for a whole number":          {`{"n":"1"}`, `The field "n" holds text where a whole number is wanted`},
		"a fraction for a whole number":      {`{"n":1.5}`, `The field "n" holds the number 1.5 where a whole number is wanted`},
		"a number beyond all whole numbers":  {`{"n":1e400}`, `The field "n" holds the number 1e400 where a whole number is wanted`},
		"a number for a text":                {`{"s":1}`, `The field "s" holds a number where text is wanted`},
		"a text for a yes or no":             {`{"b":"true"}`, `The field "b" holds text where true or false is wanted`},
		"a text for a list":                  {`{"l":"a"}`, `The field "l" holds text where a list is wanted`},
		"a number in a list of texts":        {`{"l":["a",1]}`, `The field "l" holds a number where text is wanted`},
		"a text for an object":               {`{"o":["a"]}`, `The field "o" holds text where an object is wanted`},
		"a number deep within":               {`{"o":[{"name":1}]}`, `The field "o.name" holds a number where text is wanted`},
		"a number for bytes":                 {`{"o":[{"data":1}]}`, `The field "o.data" holds a number where base64 text is wanted`},
		"bytes that are not base64":          {`{"o":[{"data":"§"}]}`, "The order has bytes that are not written as base64"},
		"a field that is not there":          {`{"selector":"#a"}`, `The order has an unknown field "selector"`},
		"a field whose name does not end":    {`{"` + strings.Repeat("x", 500) + `":1}`, `unknown field "` + strings.Repeat("x", 80) + `\u2026"`},
		"a field whose name is not printing": {`{"a\u202eb":1}`, `unknown field "a\u202eb"`},
		"a yes or no for an optional number": {`{"p":true}`, `The field "p" holds true or false where a whole number is wanted`},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			var into struct {
				N int      `json:"n"`
				S string   `json:"s"`
				B bool     `json:"b"`
				L []string `json:"l"`
				P *int     `json:"p"`
				O []struct {
					Name string `json:"name"`
					Data []byte `json:"data"`
				} `json:"o"`
			}
			d := json.NewDecoder(bytes.NewReader([]byte(tc.raw)))
			d.DisallowUnknownFields()
			err := d.Decode(&into)
			if err == nil {
				t.Fatal("it reads")
			}
			told := fault.Misread(err, "the order", "See the fields.")
			if told.Code != fault.BadRequest || !strings.Contains(told.Message, tc.says) || told.Hint == "" {
				t.Errorf("got %v, hint %q; want %q", told, told.Hint, tc.says)
			}
			for _, word := range []string{"json:", "Go ", "struct", "unmarshal"} {
				if strings.Contains(told.Message, word) {
					t.Errorf("%q holds %q", told.Message, word)
				}
			}
		})
	}
}
