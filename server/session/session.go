package session

import (
	"context"
	"time"

	"chaperone/relay/program"
	"chaperone/server/browse"
)

// State is where a session is in its life.
type State string

// The states, in the order of a life; Expired and Failed stand for Ended where the cause matters.
const (
	Idle     State = "idle" // made, no browser yet: it is opened by the first action
	Starting State = "starting"
	Active   State = "active"
	Ending   State = "ending"
	Ended    State = "ended"
	Expired  State = "expired"
	Failed   State = "failed"
)

// RulesChanged is the reason of a session that its project's new rules ended.
const RulesChanged = "the project's rules changed"

// IsOver reports whether nothing can be done in the session any more.
func (s State) IsOver() bool {
	return s == Ending || s == Ended || s == Expired || s == Failed
}

// View is a session as the outside sees it.
type View struct {
	ID           string        `json:"id"`
	Project      string        `json:"project"`      // id
	ProjectName  string        `json:"project_name"` //
	Backend      string        `json:"backend"`      // shared, managed or attached
	Policy       string        `json:"policy"`       // read_only or interactive
	Label        string        `json:"label,omitempty"`
	Run          string        `json:"run,omitempty"`
	State        State         `json:"state"`
	Reason       string        `json:"reason,omitempty"` // why it is over
	CreatedAt    time.Time     `json:"created_at"`
	EndedAt      *time.Time    `json:"ended_at,omitempty"`
	Actions      int           `json:"actions"`
	Commands     int           `json:"commands"` // of CDP clients, refused ones too
	Tabs         []program.Tab `json:"tabs"`
	Confinement  string        `json:"confinement,omitempty"` // how a managed session is kept from the network, in words
	AllowDomains []string      `json:"allow_domains,omitempty"`
	CDPClients   int           `json:"cdp_clients,omitempty"` // connected now
}

// Spec is what a caller wants of a new session; the zero value takes everything from the project.
type Spec struct {
	Project      string   `json:"-"` // id or name
	Backend      string   `json:"backend,omitempty"`
	Label        string   `json:"label,omitempty"`
	Run          string   `json:"run,omitempty"` // the agent's run, for the ledger
	Viewport     Viewport `json:"viewport,omitzero"`
	AllowDomains []string `json:"allow_domains,omitempty"` // narrows the project's, never widens
}

// Viewport is the size of a managed page in CSS pixels; zero means 1280 by 800.
type Viewport struct {
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
}

// Browser is one session's browser, whatever it is made of.
type Browser interface {
	browse.Browser
	// Cast gives pictures of one tab until ctx ends or the browser does.
	Cast(ctx context.Context, o program.CastOptions, sink func(program.Picture)) error
	// Close ends it and waits until nothing of it is left. Closing twice is closing once.
	Close(ctx context.Context) error
	// Done is closed when the browser is gone, by Close or by itself.
	Done() <-chan struct{}
}

// remembering is a browser that knows which tab was selected in the session before, and is told which one is.
type remembering interface {
	Selected() string
	Select(tab string)
}

// Opening is what a backend is told when it opens a browser.
type Opening struct {
	Session, Account, Project string // ids
	Level                     program.Level
	Viewport                  Viewport
	AllowDomains              []string // of the session; empty: every one
	// Profile asks for a browser that keeps sign-ins and tabs for the project's next session; it matters to managed ones.
	Profile bool
}

// Backend opens browsers of one kind.
type Backend interface {
	// Open may wait; its errors are faults or *program.Error with a contract code.
	Open(ctx context.Context, o Opening) (Browser, error)
	// Describe says in words how such a browser is kept from the network; empty where that is not ours to say.
	Describe() string
	// CheckURL judges an address before a tab is sent there; nil permits, else a fault says why not.
	CheckURL(raw string) error
}
