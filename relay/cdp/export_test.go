package cdp

import (
	"maps"
	"slices"
)

// Permitted lists, by method, the parameters that raw clients may give at a level.
func (t *Table) Permitted(level string) map[string][]string {
	permitted := map[string][]string{}
	for method, rules := range t.raw {
		for _, rule := range rules {
			if !reaches(level, rule.Level) {
				continue
			}
			params := slices.AppendSeq(append([]string{}, permitted[method]...), maps.Keys(rule.Params))
			slices.Sort(params)
			permitted[method] = slices.Compact(params)
		}
	}
	return permitted
}

// Never lists the methods and domains that have a reason never to be permitted.
func (t *Table) Never() []string { return slices.Sorted(maps.Keys(t.never)) }

// Told lists the events that raw clients are told at all.
func (t *Table) Told() []string { return slices.Sorted(maps.Keys(t.told)) }
