package program

// Level is what a grant or a policy permits.
type Level string

// The two levels, the lower first.
const (
	LevelRead Level = "read"
	LevelAct  Level = "act"
)

// Tab is one tab as the edge describes it to the server.
type Tab struct {
	ID    string `json:"id"` // "t1": the edge's own, never used twice within a link or a session
	URL   string `json:"url"`
	Title string `json:"title"`
	Level Level  `json:"level"`
	// Suspended says why nothing runs in the tab at the moment (a chrome: page, DevTools, …); empty when ready.
	Suspended string `json:"suspended,omitempty"`
	// Session owns the tab; empty while no session has used it.
	Session string `json:"session,omitempty"`
	// Made is true for a tab that the session (or a page of it) opened: it is closed at the session's end.
	Made   bool   `json:"made,omitempty"`
	Opener string `json:"opener,omitempty"`
	// Target is the page's CDP target id; empty while the edge does not know it.
	Target string `json:"target,omitempty"`
}

// CastOptions asks for a stream of pictures of one tab.
type CastOptions struct {
	Tab       string `json:"tab"`
	MaxWidth  int    `json:"max_width"`
	MaxHeight int    `json:"max_height"`
	Quality   int    `json:"quality"` // JPEG, 1 to 100
	FPS       int    `json:"fps"`     // at most; newest wins
}

// Picture is one JPEG of a tab.
type Picture struct {
	Tab    string `json:"tab"`
	AtMS   int64  `json:"at_ms"` // Unix milliseconds at the edge
	Width  int    `json:"width"` // of the page's viewport, CSS pixels
	Height int    `json:"height"`
	JPEG   []byte `json:"jpeg"`
}

// Download is a file that a page brought while a program ran.
type Download struct {
	Name string // the server's own word, for showing alone
	Data []byte
	// TooLarge and Failed say why there is no data.
	TooLarge bool
	Failed   bool
}
