package browse

import "chaperone/relay/program"

// Result is an action's answer, in the contract's JSON. Whatever in it came from the page is data and has
// been neutralised (no control, bidi, tag or ANSI characters; no forged refs).
type Result struct {
	Session string `json:"session"` // session fills it
	Seq     int64  `json:"seq"`     // session fills it
	Action  string `json:"action"`
	Tab     string `json:"tab,omitempty"`
	URL     string `json:"url"`
	Title   string `json:"title"`
	// Unmoved tells that the session's last answer said the same tab, address and title, and need not be told again.
	Unmoved bool `json:"unmoved,omitempty"`
	// Status is the document's HTTP status; 0 where the browser does not tell.
	Status int `json:"status,omitempty"`
	// Landed is set where something was sent to an element: a trusted event reached it, or it holds what was entered.
	Landed   *bool     `json:"landed"`
	Snapshot *Snapshot `json:"snapshot"`
	// Text is get_text's answer, and More where it goes on.
	Text *string `json:"text"`
	More *More   `json:"more,omitempty"`
	// Value is what a field holds after fill and type, and what is chosen after select.
	Value *string `json:"value,omitempty"`

	// AsAsked tells that the element is just as the action asked for it to be, and that a snapshot shows no other change.
	AsAsked bool `json:"as_asked,omitempty"`

	// Said is what the page says besides, such as why a field does not accept what it holds.
	Said []string `json:"said,omitempty"`

	// Returned is what eval's script came to, as JSON text; cut where it is long.
	Returned *string `json:"returned,omitempty"`
	// Download is the file that download fetched; session makes an artifact of File.
	Download *Download `json:"download,omitempty"`
	File     []byte    `json:"-"`

	Screenshot *Screenshot `json:"screenshot"`
	// Picture is the screenshot's PNG; session makes an artifact of it.
	Picture []byte `json:"-"`
	// Deliver repeats the action's wish that the person gets the picture.
	Deliver bool `json:"-"`

	Tabs    []program.Tab    `json:"tabs,omitempty"`
	Dialogs []program.Dialog `json:"dialogs"`
	// Opened are tabs that the page opened meanwhile; the selected tab stays.
	Opened    []program.Tab `json:"opened,omitempty"`
	Notices   []string      `json:"notices"`
	ElapsedMS int           `json:"elapsed_ms"`
	Ledger    *Receipt      `json:"ledger,omitempty"` // session fills it
}

// Snapshot is a page as lines, one an element.
type Snapshot struct {
	Text string `json:"text"`
	Mode string `json:"mode"` // full or diff
	More *More  `json:"more"`
}

// More says where a cut answer goes on and how much is left.
type More struct {
	Cursor string `json:"cursor"`
	Lines  int    `json:"lines"`
}

// Screenshot tells of a picture; session fills Artifact and Href.
type Screenshot struct {
	Artifact string `json:"artifact"`
	Href     string `json:"href"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// Download tells of a fetched file; session fills Artifact and Href. Name is the server's own word for it.
type Download struct {
	Artifact string `json:"artifact"`
	Href     string `json:"href"`
	Name     string `json:"name"`
	Bytes    int    `json:"bytes"`
}

// Receipt is the action's row in the ledger.
type Receipt struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}
