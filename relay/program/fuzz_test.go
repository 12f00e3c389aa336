package program_test

import (
	"encoding/json"
	"testing"

	"chaperone/relay/program"
)

func TestDecodeRefusesWhatReadersDisagreeOn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"an unknown field":           `{"tab":"t1","speed":1}`,
		"a field given twice":        `{"tab":"t1","tab":"t2"}`,
		"a field in another case":    `{"Tab":"t1"}`,
		"a param given twice":        `{"steps":[{"call":"Page.navigate","params":{"url":"https://a.test/","url":"file:///"}}]}`,
		"an unknown field of a step": `{"steps":[{"run":"@state","then":1}]}`,
		"a second program":           `{"tab":"t1"}{"tab":"t2"}`,
		"no object":                  `[]`,
		"nothing":                    ``,
		"a fraction":                 `{"deadline_ms":1.5}`,
	} {
		if p, err := program.Decode([]byte(text)); err == nil {
			t.Errorf("%s: decoded as %+v", name, p)
		}
	}
}

// FuzzDecode holds that what decodes survives the way over the wire unchanged, and that no level below act permits
// what act refuses.
func FuzzDecode(f *testing.F) {
	table := loadTable(f)
	f.Add([]byte(`{"tab":"t1","deadline_ms":10,"steps":[{"run":"@locate","args":{}},{"call":"Input.dispatchMouseEvent","params":{"type":"mousePressed","x":{"$":"0.x"},"y":{"$":"0.y"}}},{"stop_if":{"$":"0"}}]}`))
	f.Add([]byte(`{"tab":"new","active":true,"deadline_ms":10,"steps":[{"settle":{"quiet_ms":1,"max_ms":2}},{"await":{"run":"@state","args":{},"max_ms":1}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := program.Decode(data)
		if err != nil {
			return
		}
		if program.Check(p, "", table) == nil && len(p.Steps) > 0 && p.Steps[0].Run != "" {
			t.Errorf("no level permits %s", data)
		}
		if program.Check(p, program.LevelRead, table) == nil && program.Check(p, program.LevelAct, table) != nil {
			t.Errorf("read permits what act refuses: %s", data)
		}
		raw, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := program.Decode(raw)
		if err != nil {
			t.Fatalf("%s does not decode again: %v", raw, err)
		}
		if !isSameJSON(t, raw, mustMarshal(t, again)) {
			t.Errorf("%s became %s", raw, mustMarshal(t, again))
		}
	})
}
