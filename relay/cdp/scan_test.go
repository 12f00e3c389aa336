package cdp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"chaperone/relay/cdp"
)

func TestScan(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message                     string
		id, method, session, params string
		err                         error
	}{
		"a command":                       {`{"id":1,"method":"Page.enable"}`, "1", "Page.enable", "", "", nil},
		"all that a command may have":     {`{"id":7,"method":"A.b","sessionId":"S1","params":{"a":[1]}}`, "7", "A.b", "S1", `{"a":[1]}`, nil},
		"any order, with space":           {"\n{ \"params\" : {\"a\" : 1} ,\t\"method\":\"A.b\", \"id\":2 } ", "2", "A.b", "", `{"a" : 1}`, nil},
		"an id of 0":                      {`{"id":0,"method":"A.b"}`, "0", "A.b", "", "", nil},
		"a negative id":                   {`{"id":-5,"method":"A.b"}`, "-5", "A.b", "", "", nil},
		"the largest id":                  {`{"id":9223372036854775807,"method":"A.b"}`, "9223372036854775807", "A.b", "", "", nil},
		"an id above the largest":         {`{"id":9223372036854775808,"method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"names and words in escapes":      {`{"\u0069d":1,"m\u0065thod":"Page.n\u0061vigate"}`, "1", "Page.navigate", "", "", nil},
		"params of null":                  {`{"id":1,"method":"A.b","params":null}`, "1", "A.b", "", "", nil},
		"empty params":                    {`{"id":1,"method":"A.b","params":{}}`, "1", "A.b", "", "{}", nil},
		"an empty session":                {`{"id":1,"method":"A.b","sessionId":""}`, "1", "A.b", "", "", nil},
		"a lone surrogate in an escape":   {`{"id":1,"method":"A.b","params":{"a":"\ud800"}}`, "1", "A.b", "", `{"a":"\ud800"}`, nil},
		"a name given twice inside":       {`{"id":1,"method":"A.b","params":{"a":1,"a":2}}`, "1", "A.b", "", `{"a":1,"a":2}`, nil},
		"nothing":                         {``, "", "", "", "", cdp.ErrNotJSON},
		"a list":                          {`[{"id":1,"method":"A.b"}]`, "", "", "", "", cdp.ErrNotJSON},
		"null":                            {`null`, "", "", "", "", cdp.ErrNotJSON},
		"two commands":                    {`{"id":1,"method":"A.b"}{"id":2,"method":"A.b"}`, "1", "", "", "", cdp.ErrNotJSON},
		"something after it":              {`{"id":1,"method":"A.b"} x`, "1", "", "", "", cdp.ErrNotJSON},
		"an object without its end":       {`{"id":1,"method":"A.b"`, "1", "", "", "", cdp.ErrNotJSON},
		"a value without its end":         {`{"id":1,"method":"A.b`, "1", "", "", "", cdp.ErrNotJSON},
		"params that are not JSON":        {`{"id":1,"method":"A.b","params":{"a":01}}`, "1", "", "", "", cdp.ErrNotJSON},
		"a comma at the end":              {`{"id":1,"method":"A.b",}`, "1", "", "", "", cdp.ErrNotJSON},
		"a comment":                       {`{"id":1,/**/"method":"A.b"}`, "1", "", "", "", cdp.ErrNotJSON},
		"an invalid byte in a word":       {"{\"id\":1,\"method\":\"A.b\xff\"}", "", "", "", "", cdp.ErrNotJSON},
		"an invalid byte in params":       {"{\"id\":1,\"method\":\"A.b\",\"params\":{\"a\":\"\xc0\xaf\"}}", "", "", "", "", cdp.ErrNotJSON},
		"a surrogate in UTF-8":            {"{\"id\":1,\"method\":\"\xed\xa0\x80\"}", "", "", "", "", cdp.ErrNotJSON},
		"a byte order mark":               {"\xef\xbb\xbf{\"id\":1,\"method\":\"A.b\"}", "", "", "", "", cdp.ErrNotJSON},
		"a control character in a string": {"{\"id\":1,\"method\":\"A\nb\"}", "1", "", "", "", cdp.ErrNotJSON},
		"no id":                           {`{"method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"an id twice":                     {`{"id":1,"method":"A.b","id":1}`, "1", "", "", "", cdp.ErrMessageID},
		"an id twice, once in escapes":    {`{"id":1,"method":"A.b","\u0069d":2}`, "1", "", "", "", cdp.ErrMessageID},
		"an id that is a string":          {`{"id":"1","method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"an id with a fraction":           {`{"id":1.0,"method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"an id with an exponent":          {`{"id":1e2,"method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"an id of null":                   {`{"id":null,"method":"A.b"}`, "", "", "", "", cdp.ErrMessageID},
		"no method":                       {`{"id":9}`, "9", "", "", "", cdp.ErrMessageMethod},
		"an empty method":                 {`{"id":9,"method":""}`, "9", "", "", "", cdp.ErrMessageMethod},
		"a method twice":                  {`{"id":9,"method":"A.b","method":"A.c"}`, "9", "", "", "", cdp.ErrMessageMethod},
		"a method that is a number":       {`{"id":9,"method":5}`, "9", "", "", "", cdp.ErrMessageMethod},
		"a session twice":                 {`{"id":9,"method":"A.b","sessionId":"a","sessionId":"a"}`, "9", "", "", "", cdp.ErrSession},
		"a session of null":               {`{"id":9,"method":"A.b","sessionId":null}`, "9", "", "", "", cdp.ErrSession},
		"params twice":                    {`{"id":9,"method":"A.b","params":{},"params":{}}`, "9", "", "", "", cdp.ErrMessageParams},
		"params twice, once null":         {`{"id":9,"method":"A.b","params":null,"params":{}}`, "9", "", "", "", cdp.ErrMessageParams},
		"params that are a list":          {`{"id":9,"method":"A.b","params":[]}`, "9", "", "", "", cdp.ErrMessageParams},
		"params that are a string":        {`{"id":9,"method":"A.b","params":"{}"}`, "9", "", "", "", cdp.ErrMessageParams},
		"a name that is none of ours":     {`{"id":9,"method":"A.b","jsonrpc":"2.0"}`, "9", "", "", "", cdp.ErrMessageName},
		"a name in other case":            {`{"ID":9,"method":"A.b"}`, "", "", "", "", cdp.ErrMessageName},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := cdp.Scan([]byte(c.message))
			if !errors.Is(err, c.err) || err == nil && c.err != nil {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if string(got.ID) != c.id || got.Method != c.method || got.Session != c.session || string(got.Params) != c.params {
				t.Errorf("got %q %q %q %q", got.ID, got.Method, got.Session, got.Params)
			}
		})
	}
}

func TestScanPointsIntoTheMessage(t *testing.T) {
	t.Parallel()
	message := []byte(`{"id":12,"method":"A.b","params":{"a":1}}`)
	got, err := cdp.Scan(message)
	if err != nil {
		t.Fatal(err)
	}
	copy(message[bytes.Index(message, got.Params):], `{"a":2}`)
	if string(got.Params) != `{"a":2}` || cap(got.Params) != len(got.Params) || cap(got.ID) != len(got.ID) {
		t.Errorf("params %q with room for %d, id with room for %d", got.Params, cap(got.Params), cap(got.ID))
	}
}

func TestScanAllocatesNoMoreForMore(t *testing.T) {
	for name, params := range map[string]string{
		"a long string": `{"expression":"` + strings.Repeat("x", 1<<20) + `"}`,
		"many values":   `{"list":[` + strings.Repeat(`{"a":"b"},`, 1<<16) + `1]}`,
		"many names":    `{"a":{` + strings.Repeat(`"b":1,`, 1<<16) + `"c":1}}`,
	} {
		message := []byte(`{"id":1,"method":"Runtime.evaluate","params":` + params + `}`)
		allocations := testing.AllocsPerRun(10, func() {
			if _, err := cdp.Scan(message); err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 12 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}

// FuzzScan holds that what is accepted is what encoding/json reads, name for name.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"id":1,"method":"Page.navigate","sessionId":"A","params":{"url":"https://example.com/"}}`))
	f.Add([]byte(`{"id":-0,"method":"\u0041.b","params":null}`))
	f.Add([]byte(`{"id":1,"method":"A.b","params":{"a":"\ud800\udc00\ud800"}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := cdp.Scan(message)
		var read map[string]json.RawMessage
		unread := json.Unmarshal(message, &read)
		if err != nil {
			return
		}
		if unread != nil {
			t.Fatalf("accepted %q: %v", message, unread)
		}
		var plain struct {
			ID        json.Number
			Method    string
			SessionID string
			Params    json.RawMessage
		}
		if err := json.Unmarshal(message, &plain); err != nil {
			t.Fatalf("accepted %q: %v", message, err)
		}
		if string(read["params"]) == "null" {
			delete(read, "params")
		}
		if string(got.ID) != string(read["id"]) || string(got.ID) != plain.ID.String() || got.Method != plain.Method ||
			got.Session != plain.SessionID || !bytes.Equal(got.Params, read["params"]) {
			t.Fatalf("%q read as %+v", message, got)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	for name, size := range map[string]int{"1KB": 1 << 10, "1MB": 1 << 20} {
		message := []byte(`{"id":1,"method":"Runtime.evaluate","params":{"expression":"` + strings.Repeat("x", size) + `"}}`)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(message)))
			for b.Loop() {
				if _, err := cdp.Scan(message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
