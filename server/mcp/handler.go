package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/session"
)

// Projects finds the project that an actor may see.
type Projects interface {
	Get(ctx context.Context, actor account.Actor, idOrName string) (project.Project, error)
}

// Sessions is the one door for every action.
type Sessions interface {
	Open(ctx context.Context, actor account.Actor, spec session.Spec) (session.View, error)
	Do(ctx context.Context, actor account.Actor, id string, a browse.Action) (browse.Result, error)
	Close(ctx context.Context, actor account.Actor, id string) (session.View, error)
}

// Options is what New needs; Logger may be nil.
type Options struct {
	Projects Projects
	Sessions Sessions
	Version  string
	Logger   *slog.Logger
}

// idle ends a conversation whose client left without saying so.
const idle = 30 * time.Minute

// Handler serves the protocol over streamable HTTP. It is safe for concurrent use.
type Handler struct {
	options  Options
	serve    http.Handler
	watching sync.WaitGroup // one a conversation

	liveMu sync.Mutex
	live   map[*sdk.ServerSession]bool
	closed bool
}

// New makes the handler; Close ends it.
func New(o Options) *Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &Handler{options: o, live: map[*sdk.ServerSession]bool{}}
	streamable := sdk.NewStreamableHTTPHandler(h.serverFor, &sdk.StreamableHTTPOptions{
		SessionTimeout: idle,
		// web has judged the request's Host against the server's own names, the private socket's too.
		DisableLocalhostProtection: true,
	})
	// The library holds a conversation to the user who began it only when it has checked the bearer itself.
	h.serve = auth.RequireBearerToken(vouch, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(streamable)
	return h
}

type actorKey struct{}

// ServeActor answers one request of an actor whom the caller has authenticated. The query's project names
// the project; without it it is the token's own, else the default one. The query's backend says which browser is
// meant until a call names another; without it it is the project's.
func (h *Handler) ServeActor(w http.ResponseWriter, r *http.Request, actor account.Actor) {
	if unheard(w, r) {
		return
	}
	h.serve.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), actorKey{}, actor)))
}

// Close ends every conversation and waits until their browser sessions are closed or ctx ends.
func (h *Handler) Close(ctx context.Context) error {
	for _, ss := range h.shut() {
		_ = ss.Close() // its end is what the watcher waits for
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.watching.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *Handler) shut() []*sdk.ServerSession {
	h.liveMu.Lock()
	defer h.liveMu.Unlock()
	h.closed = true
	all := make([]*sdk.ServerSession, 0, len(h.live))
	for ss := range h.live {
		all = append(all, ss)
	}
	return all
}

// vouch tells the library whom the caller has authenticated.
func vouch(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	actor, ok := actorOf(ctx)
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: actor.Account + "/" + actor.ID()}, nil
}

func actorOf(ctx context.Context) (account.Actor, bool) {
	actor, ok := ctx.Value(actorKey{}).(account.Actor)
	return actor, ok && actor.Account != ""
}

// serverFor makes a conversation's own server, whose tool is what its project permits. A later request of
// the same conversation asks too, and gets one that is not used.
func (h *Handler) serverFor(r *http.Request) *sdk.Server {
	actor, ok := actorOf(r.Context())
	if !ok {
		return nil
	}
	name := r.URL.Query().Get("project")
	if name == "" {
		name = actor.Project
	}
	if name == "" {
		name = project.DefaultName
	}
	p, err := h.options.Projects.Get(r.Context(), actor, name)
	if err != nil {
		h.options.Logger.DebugContext(r.Context(), "conversation refused", slog.Any("error", err))
		return nil
	}
	backend := project.Backend(r.URL.Query().Get("backend"))
	if backend == "" {
		backend = p.Backend
	}
	return h.server(&conversation{sessions: h.options.Sessions, actor: actor, project: p, backend: backend, browsers: map[string]string{}})
}

// server makes one conversation's server.
func (h *Handler) server(c *conversation) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "chaperone", Title: "Chaperone", Version: h.options.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		// Later versions of the protocol have no session that a browser session could belong to.
		SupportedProtocolVersions: []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"},
	})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if ss, ok := r.GetSession().(*sdk.ServerSession); ok {
				if err := h.watch(ss, c); err != nil { //nolint:contextcheck // what it starts outlives the message
					return nil, err
				}
			}
			return next(ctx, method, r)
		}
	})
	s.AddTool(tool(c.project.Policy), func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return c.call(ctx, r.Params.Arguments), nil
	})
	return s
}

// watch, asked at a conversation's first message and after, closes its browser session when it ends.
func (h *Handler) watch(ss *sdk.ServerSession, c *conversation) error {
	h.liveMu.Lock()
	defer h.liveMu.Unlock()
	if h.closed {
		return fault.New(fault.Unavailable, "the server is stopping", "Try again when it is back.")
	}
	if h.live[ss] {
		return nil
	}
	h.live[ss] = true
	h.watching.Go(func() {
		_ = ss.Wait() // however it ended, it has ended
		h.forget(ss)
		if err := c.end(); err != nil && !errors.Is(err, context.Canceled) {
			h.options.Logger.Warn("browser session of a conversation was not closed", slog.Any("error", err))
		}
	})
	return nil
}

func (h *Handler) forget(ss *sdk.ServerSession) {
	h.liveMu.Lock()
	defer h.liveMu.Unlock()
	delete(h.live, ss)
}
