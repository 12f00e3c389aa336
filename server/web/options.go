package web

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaperone/relay"
	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/browse"
	"chaperone/server/ledger"
	"chaperone/server/live"
	"chaperone/server/project"
	"chaperone/server/session"
)

// Options is everything that the routes ask of the other rooms. All fields are required but where one
// says what nil means.
type Options struct {
	Hosts *Hosts

	Identity Identity
	Logins   Logins
	Tokens   Tokens

	Projects Projects
	Keeper   Keeper
	Profiles Profiles
	Pairing  Pairing
	Unpair   Unpair
	Links    Links
	// Link serves an extension's WebSocket; it checks Origin and Host itself.
	Link http.Handler

	Sessions Sessions
	Actions  Actions
	Exposure Exposure
	Happened Happened
	Screens  Screens
	Cast     Cast

	Artifacts Artifacts
	Signed    Signed
	Ledger    Ledger

	MCP MCP
	// Extension gives the packaged extension.
	Extension func() ([]byte, error)
	// Dashboard is the dashboard's files; nil where it was not bundled.
	Dashboard fs.FS

	// Ready says why the server cannot serve yet, or nil.
	Ready func(context.Context) error
	// Metrics is what /metrics shows; web adds its own there.
	Metrics *prometheus.Registry
	// BodyWait is how long a request's body may take; 0 means 30 s.
	BodyWait time.Duration
	// FrameFPS is how many pictures a second a viewer gets; 0 means 4.
	FrameFPS int
	Version  string
	Logger   *slog.Logger
}

// Identity says who a bearer is.
type Identity interface {
	Authenticate(ctx context.Context, bearer string) (account.Actor, error)
	// Recheck asks again for what lasts longer than a request; it overlooks that an access token has expired since.
	Recheck(ctx context.Context, bearer string) (account.Actor, error)
}

// Logins makes and ends a person's credentials.
type Logins interface {
	LoginLink(ctx context.Context, actor account.Actor, peer string) (code string, expires time.Time, err error)
	Login(ctx context.Context, code, peer string) (account.Credentials, error)
	Refresh(ctx context.Context, refresh, peer string) (account.Credentials, error)
	Logout(ctx context.Context, refresh, peer string) error
}

// Tokens keeps agent tokens.
type Tokens interface {
	CreateToken(ctx context.Context, actor account.Actor, spec account.TokenSpec) (account.AgentToken, string, error)
	ListTokens(ctx context.Context, actor account.Actor) ([]account.AgentToken, error)
	RevokeToken(ctx context.Context, actor account.Actor, id string) error
}

// Projects finds projects; what is not the actor's answers as what does not exist.
type Projects interface {
	Get(ctx context.Context, actor account.Actor, idOrName string) (project.Project, error)
	List(ctx context.Context, actor account.Actor) ([]project.Project, error)
}

// Keeper changes projects.
type Keeper interface {
	Create(ctx context.Context, actor account.Actor, spec project.Spec) (project.Project, error)
	Update(ctx context.Context, actor account.Actor, idOrName string, change project.Change) (project.Project, error)
	Delete(ctx context.Context, actor account.Actor, idOrName string) error
}

// Profiles are what projects' browsers keep; one that does not exist is removed already.
type Profiles interface {
	RemoveProfile(ctx context.Context, account, project string) error
}

// Pairing registers projects for the account's browser.
type Pairing interface {
	Code(ctx context.Context, actor account.Actor, project, serverURL string) (string, error)
	IsPaired(ctx context.Context, actor account.Actor, project string) (bool, error)
}

// Unpair forgets what Pairing registered.
type Unpair interface {
	Revoke(ctx context.Context, actor account.Actor, project string) error
	Reset(ctx context.Context, actor account.Actor) error
}

// Links is the live links of extensions.
type Links interface {
	Status(account, project string) relay.LinkStatus
	Disconnect(account, project string, reason relay.Reason)
	SetLevel(account, project string, level program.Level)
}

// Sessions opens and finds sessions.
type Sessions interface {
	Open(ctx context.Context, actor account.Actor, spec session.Spec) (session.View, error)
	Get(ctx context.Context, actor account.Actor, id string) (session.View, error)
	List(ctx context.Context, actor account.Actor, project string, page session.Page) ([]session.View, error)
}

// Actions is the one door for every action, and the ways a session ends.
type Actions interface {
	Do(ctx context.Context, actor account.Actor, id string, a browse.Action) (browse.Result, error)
	Close(ctx context.Context, actor account.Actor, id string) (session.View, error)
	EndProject(projectID, reason string, keep func(session.View) bool)
}

// Exposure gives sessions a private CDP endpoint and takes it away.
type Exposure interface {
	Expose(ctx context.Context, actor account.Actor, id string, by session.Credential) (session.Access, error)
	Withdraw(ctx context.Context, actor account.Actor, id string) error
	// EndedCredential makes everybody who was let in by a credential ask for it again; CredentialEnded is closed then.
	EndedCredential()
	CredentialEnded() <-chan struct{}
}

// Happened gives durable events after a seq, then live ones, until ctx ends.
type Happened interface {
	Events(ctx context.Context, actor account.Actor, scope session.Scope, after int64, sink func(session.Event) error) error
}

// Screens gives a session's pictures to whoever may watch.
type Screens interface {
	Screen(ctx context.Context, actor account.Actor, id string) (live.Source, error)
}

// Cast shares one stream of pictures among all who watch.
type Cast interface {
	Watch(ctx context.Context, key string, src live.Source, v live.Viewer) error
}

// Artifacts hands out what sessions kept.
type Artifacts interface {
	List(ctx context.Context, actor account.Actor, session string) ([]artifact.Artifact, error)
	Read(ctx context.Context, actor account.Actor, id string) (artifact.Artifact, io.ReadSeekCloser, error)
}

// Signed hands out an artifact to whoever holds a signed link.
type Signed interface {
	ReadSigned(ctx context.Context, id string, link artifact.Link) (artifact.Artifact, io.ReadSeekCloser, error)
}

// Ledger reads an account's chain.
type Ledger interface {
	List(ctx context.Context, filter ledger.Filter) ([]ledger.Row, error)
	Verify(ctx context.Context, account string) (ledger.Report, error)
}

// MCP serves the Model Context Protocol to an actor who has been authenticated.
type MCP interface {
	ServeActor(w http.ResponseWriter, r *http.Request, actor account.Actor)
}
