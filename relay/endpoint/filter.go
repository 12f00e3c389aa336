package endpoint

// filter is CDP's Target.TargetFilter: the first entry that fits a kind decides, and none means no. The zero value
// is Chrome's default: all but browsers and tabs.
type filter struct {
	entries []filterEntry
}

type filterEntry struct {
	Type    string `json:"type"`
	Exclude bool   `json:"exclude"`
}

func newFilter(entries []filterEntry) *filter { return &filter{entries: entries} }

func (f *filter) matches(kind string) bool {
	if len(f.entries) == 0 {
		return kind != kindBrowser && kind != kindTab
	}
	for _, entry := range f.entries {
		if entry.Type == "" || entry.Type == kind {
			return !entry.Exclude
		}
	}
	return false
}

// autoAttach is what a client asked of Target.setAutoAttach.
type autoAttach struct {
	filter *filter
	waits  bool
}
