package endpoint

import (
	"encoding/json"
	"fmt"
)

const (
	// maxFilter is how many entries a filter may have, and maxKind how long a kind's name may be: filters are gone
	// through for every target, and clients have many.
	maxFilter = 64
	maxKind   = 64
)

// filter is CDP's Target.TargetFilter: the first entry that fits a kind decides, and none means no. The zero value
// is Chrome's default: all but browsers and tabs.
type filter []filterEntry

type filterEntry struct {
	Type    string `json:"type"`
	Exclude bool   `json:"exclude"`
}

// UnmarshalJSON refuses filters that are too long.
func (f *filter) UnmarshalJSON(raw []byte) error {
	var entries []filterEntry
	if err := json.Unmarshal(raw, &entries); err != nil {
		return err
	}
	if len(entries) > maxFilter {
		return fmt.Errorf("endpoint: a filter of %d entries", len(entries))
	}
	for _, entry := range entries {
		if len(entry.Type) > maxKind {
			return fmt.Errorf("endpoint: a kind of %d bytes", len(entry.Type))
		}
	}
	*f = entries
	return nil
}

func (f filter) matches(kind string) bool {
	if len(f) == 0 {
		return kind != kindBrowser && kind != kindTab
	}
	for _, entry := range f {
		if entry.Type == "" || entry.Type == kind {
			return !entry.Exclude
		}
	}
	return false
}

// autoAttach is what a client asked of Target.setAutoAttach.
type autoAttach struct {
	filter filter
	waits  bool
}
