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

// Table says what each level permits, programs and raw clients. It is read-only after Load and safe for concurrent use.
type Table struct {
	methods   map[string][]rule
	functions map[string]permission
	events    map[string]permission

	raw   map[string][]rule            // those for raw clients alone, then methods'
	never map[string]string            // why, by method or domain
	drops map[string]map[string]string // kinds of the parameters, by method, that are not sent on as they are
	reads map[string]bool
	told  map[string]permission
	strip stripping
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

// file is methods.json.
type file struct {
	Version    int                   `json:"version"`
	About      string                `json:"about"`
	Methods    map[string][]rule     `json:"methods"`
	Raw        map[string][]rule     `json:"raw"`
	Never      map[string]string     `json:"never"`
	Reads      []string              `json:"reads"`
	Functions  map[string]permission `json:"functions"`
	Events     map[string]permission `json:"events"`
	Told       map[string][]string   `json:"told"`
	Strip      stripLists            `json:"strip"`
	OwnHeaders ownHeaders            `json:"own_headers"`
}

// Load reads the embedded table and refuses one that names an unknown level or kind.
func Load() (*Table, error) {
	var f file
	if err := jsonv2.Unmarshal(methodsJSON, &f, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("decode method table: %w", err)
	}
	table := f.table()
	if err := table.validate(); err != nil {
		return nil, fmt.Errorf("check method table: %w", err)
	}
	return table, nil
}

func (f file) table() *Table {
	t := &Table{
		methods: f.Methods, functions: f.Functions, events: f.Events, never: f.Never,
		raw: f.Raw, reads: map[string]bool{}, told: map[string]permission{},
	}
	t.strip = newStripping(f.Strip)
	headers := newHeaderRules(f.Strip.Headers, f.OwnHeaders)
	for _, rules := range f.Raw {
		for i := range rules {
			rules[i].headers = headers
		}
	}
	for method, rules := range f.Methods {
		t.raw[method] = append(t.raw[method], rules...)
	}
	t.drops = dropped(t.raw)
	for _, method := range f.Reads {
		t.reads[method] = true
	}
	for level, names := range f.Told {
		for _, name := range names {
			t.told[name] = permission{Level: level}
		}
	}
	return t
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
	for method, rules := range t.raw {
		for _, rule := range rules {
			if err := rule.validate(); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
	}
	for method, rules := range t.methods {
		for _, rule := range rules {
			if err := rule.validateForPrograms(); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
	}
	for _, named := range []map[string]permission{t.functions, t.events, t.told} {
		for name, permission := range named {
			if !reaches(levelAct, permission.Level) {
				return fmt.Errorf("%s: unknown level %q", name, permission.Level)
			}
		}
	}
	return t.validateNames()
}

// validateNames sees to it that reads are permitted methods and that nothing is both permitted and never.
func (t *Table) validateNames() error {
	for method := range t.reads {
		if t.raw[method] == nil {
			return fmt.Errorf("%s reads, but is not permitted", method)
		}
	}
	for method := range t.raw {
		if t.whyNever(method) != "" {
			return fmt.Errorf("%s is permitted, and never", method)
		}
	}
	return nil
}
