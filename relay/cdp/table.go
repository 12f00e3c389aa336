package cdp

import (
	_ "embed"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
)

//go:embed methods.json
var methodsJSON []byte

// The levels of a grant, the lower first. Any other permits nothing.
const (
	levelRead = "read"
	levelAct  = "act"
)

// Table says what each level permits. It is read-only after Load and safe for concurrent use.
type Table struct {
	methods   map[string][]rule
	functions map[string]permission
	events    map[string]permission
}

type permission struct {
	Level string `json:"level"`
	Retry bool   `json:"retry"`
}

// Verdict is the table's answer. Reason is empty when the call is allowed, and else short enough for a model.
type Verdict struct {
	Reason string
	// Located are the steps that the call's located parameters take their value from. The caller holds them
	// against the program, which the table does not see.
	Located []int
}

// Allowed reports whether there is no reason against it.
func (v Verdict) Allowed() bool { return v.Reason == "" }

// Load reads the embedded table and refuses one that names an unknown level or kind.
func Load() (*Table, error) {
	var file struct {
		Version   int                   `json:"version"`
		About     string                `json:"about"`
		Methods   map[string][]rule     `json:"methods"`
		Functions map[string]permission `json:"functions"`
		Events    map[string]permission `json:"events"`
	}
	if err := jsonv2.Unmarshal(methodsJSON, &file, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("decode method table: %w", err)
	}
	table := &Table{methods: file.Methods, functions: file.Functions, events: file.Events}
	if err := table.validate(); err != nil {
		return nil, fmt.Errorf("check method table: %w", err)
	}
	return table, nil
}

// Call judges one CDP command. params is a JSON object or nothing; `$` references stand in it unresolved. Of two rules
// that permit it, the one that asks nothing of the program counts.
func (t *Table) Call(level, method string, params json.RawMessage) Verdict {
	rules, known := t.methods[method]
	if !known {
		return deny("%s is not permitted at any level", method)
	}
	given, err := object(params)
	if err != nil {
		return deny("%s: params are not one plain JSON object", method)
	}
	var best *Verdict
	for _, rule := range rules {
		if !reaches(level, rule.Level) {
			continue
		}
		verdict := rule.judge(method, given)
		if verdict.Allowed() && len(verdict.Located) == 0 {
			return verdict
		}
		if best == nil || verdict.Allowed() && !best.Allowed() {
			best = &verdict
		}
	}
	if best == nil {
		return deny("%s is not permitted at level %s", method, level)
	}
	return *best
}

// Function judges a run or a condition by the name of the page script's function ("@locate").
func (t *Table) Function(level, name string) Verdict { return permit(t.functions, level, name) }

// Event judges whether a program may wait for the CDP event and read its params.
func (t *Table) Event(level, name string) Verdict { return permit(t.events, level, name) }

// CanRetry reports whether the function may run again when its document went away while it ran.
func (t *Table) CanRetry(name string) bool { return t.functions[name].Retry }

func permit(named map[string]permission, level, name string) Verdict {
	permission, known := named[name]
	switch {
	case !known:
		return deny("%s is not permitted at any level", name)
	case !reaches(level, permission.Level):
		return deny("%s is not permitted at level %s", name, level)
	default:
		return Verdict{}
	}
}

// reaches reports whether a grant of one level may do what needs the other.
func reaches(has, needs string) bool {
	switch needs {
	case levelRead:
		return has == levelRead || has == levelAct
	case levelAct:
		return has == levelAct
	default:
		return false
	}
}

func deny(format string, a ...any) Verdict { return Verdict{Reason: fmt.Sprintf(format, a...)} }

func (t *Table) validate() error {
	for method, rules := range t.methods {
		for _, rule := range rules {
			if err := rule.validate(); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
	}
	for _, named := range []map[string]permission{t.functions, t.events} {
		for name, permission := range named {
			if !reaches(levelAct, permission.Level) {
				return fmt.Errorf("%s: unknown level %q", name, permission.Level)
			}
		}
	}
	return nil
}
