package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/store"
)

// Projects finds the project an actor may see.
type Projects interface {
	Get(ctx context.Context, actor account.Actor, idOrName string) (project.Project, error)
}

// Ledger writes what is about to be done and what came of it.
type Ledger interface {
	Begin(ctx context.Context, entry ledger.Entry) (ledger.Pending, error)
	Finish(ctx context.Context, pending ledger.Pending, outcome ledger.Outcome) (ledger.Row, error)
	Append(ctx context.Context, entry ledger.Entry, outcome ledger.Outcome) (ledger.Row, error)
}

// Artifacts keeps screenshots.
type Artifacts interface {
	Save(ctx context.Context, meta artifact.Meta, content []byte) (artifact.Artifact, error)
}

// Limits bound what sessions take; a zero field takes the default in brackets.
type Limits struct {
	Sessions           int           // alive at once [4]
	SessionsPerProject int           // [2]
	PlaceWait          time.Duration // for a place, before busy [30 s]
	Idle               time.Duration // without an action, before the session expires [5 min]
	Action             time.Duration // for one action that sets no limit [30 s]
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Sessions:           or(l.Sessions, 4),
		SessionsPerProject: or(l.SessionsPerProject, 2),
		PlaceWait:          or(l.PlaceWait, 30*time.Second),
		Idle:               or(l.Idle, 5*time.Minute),
		Action:             or(l.Action, 30*time.Second),
	}
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// Config is what New needs. Backends are keyed by project.Backend; one that is missing is unavailable.
type Config struct {
	Store     *store.Store
	Projects  Projects
	Ledger    Ledger
	Artifacts Artifacts
	Backends  map[project.Backend]Backend
	Endpoint  Endpoint // nil: no session has a CDP endpoint
	// Recheck is how often the credentials behind an endpoint are asked again; 0 means 15 s.
	Recheck time.Duration
	Limits  Limits
	Logger  *slog.Logger
	Now     func() time.Time
}

// closeWait bounds the closing of one browser: a Chrome that hangs is killed by its backend before.
const closeWait = 10 * time.Second

// Service holds every living session. Its methods may be called at the same time.
type Service struct {
	config Config
	places *places
	bell   *bell
	minds  sync.WaitGroup // one a living session

	credentials *bell // rings when one has ended

	livingMu sync.Mutex
	living   map[string]*living
	closed   bool
}

// New makes the service. Call Recover before the first Open, and Shutdown at the end.
func New(c Config) *Service {
	c.Limits = c.Limits.withDefaults()
	c.Recheck = or(c.Recheck, recheckEvery)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{
		config: c,
		places: newPlaces(c.Limits.Sessions, c.Limits.SessionsPerProject, c.Limits.PlaceWait),
		bell:   newBell(), credentials: newBell(),
		living: map[string]*living{},
	}
}

// Recover marks as failed what an earlier server left unfinished, and tells the ledger.
func (s *Service) Recover(ctx context.Context) error {
	const reason = "the server stopped while the session lived"
	left, err := s.config.Store.FailUnfinishedSessionsAnyAccount(ctx, s.config.Now(), reason)
	if err != nil {
		return err
	}
	for _, row := range left {
		entry := ledger.Entry{
			Account: row.Account, Actor: ledger.Actor{Kind: row.ActorKind, ID: row.ActorID}, Run: row.Run,
			Project: row.Project, Session: row.ID, Kind: ledger.Browser, Method: "session.close",
		}
		if _, err := s.config.Ledger.Append(ctx, entry, ledger.Outcome{Outcome: ledger.Lost}); err != nil {
			return err
		}
	}
	return nil
}

// Get shows one session, living or over.
func (s *Service) Get(ctx context.Context, actor account.Actor, id string) (View, error) {
	if l := s.find(id); l != nil && l.account == actor.Account && actor.CanSee(l.project.ID) {
		return l.view(), nil
	}
	row, err := s.config.Store.GetSession(ctx, actor.Account, id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !actor.CanSee(row.Project)) {
		return View{}, notFound(id)
	}
	if err != nil {
		return View{}, err
	}
	return s.past(ctx, actor, row), nil
}

// Page asks for part of a list: up to Limit (0 means 50) sessions older than Before.
type Page struct {
	Before string
	Limit  int
}

// List lists a project's sessions, newest first.
func (s *Service) List(ctx context.Context, actor account.Actor, idOrName string, page Page) ([]View, error) {
	p, err := s.config.Projects.Get(ctx, actor, idOrName)
	if err != nil {
		return nil, err
	}
	rows, err := s.config.Store.ListSessions(ctx, store.SessionFilter{
		Account: actor.Account, Project: p.ID, Before: page.Before, Limit: page.Limit,
	})
	if err != nil {
		return nil, err
	}
	views := make([]View, 0, len(rows))
	for _, row := range rows {
		if l := s.find(row.ID); l != nil {
			views = append(views, l.view())
			continue
		}
		views = append(views, s.past(ctx, actor, row))
	}
	return views, nil
}

// past is the view of a session that is over. A project that is gone has no name left to show.
func (s *Service) past(ctx context.Context, actor account.Actor, row store.Session) View {
	v := View{
		ID: row.ID, Project: row.Project, Backend: row.Backend, Label: row.Label, Run: row.Run,
		State: State(row.State), Reason: row.Reason, CreatedAt: row.Created, Policy: row.Policy,
		Confinement: row.Confinement, Actions: row.Actions, Commands: row.Commands, Tabs: []program.Tab{},
	}
	if !row.Ended.IsZero() {
		v.EndedAt = &row.Ended
	}
	if p, err := s.config.Projects.Get(ctx, actor, row.Project); err == nil {
		v.ProjectName = p.Name
	}
	return v
}

// Close ends a session; ending one that is over is no error.
func (s *Service) Close(ctx context.Context, actor account.Actor, id string) (View, error) {
	l, err := s.mine(ctx, actor, id)
	if fault.Is(err, fault.SessionEnded) {
		return s.Get(ctx, actor, id)
	}
	if err != nil {
		return View{}, err
	}
	s.end(l, byActor(actor))
	return s.Get(ctx, actor, id)
}

// EndProject ends the project's living sessions that keep says no to, for example after its policy changed. They end
// side by side: none goes on while another's end takes its time.
func (s *Service) EndProject(projectID, reason string, keep func(View) bool) {
	var ends sync.WaitGroup
	for _, l := range s.all() {
		if l.project.ID == projectID && !keep(l.view()) {
			ends.Go(func() { s.end(l, byServer(Ended, "project_changed", reason)) })
		}
	}
	ends.Wait()
}

// Shutdown ends every session and waits until nothing of them is left, or ctx ends.
func (s *Service) Shutdown(ctx context.Context) error {
	s.livingMu.Lock()
	s.closed = true
	s.livingMu.Unlock()
	for _, l := range s.all() {
		go s.end(l, byServer(Ended, "server_stopped", "the server stopped"))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.minds.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Service) find(id string) *living {
	s.livingMu.Lock()
	defer s.livingMu.Unlock()
	return s.living[id]
}

func (s *Service) all() []*living {
	s.livingMu.Lock()
	defer s.livingMu.Unlock()
	list := make([]*living, 0, len(s.living))
	for _, l := range s.living {
		list = append(list, l)
	}
	return list
}

// mine finds a living session that the actor may control. What is another's answers as what does not exist.
func (s *Service) mine(ctx context.Context, actor account.Actor, id string) (*living, error) {
	view, err := s.Get(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	if !actor.CanControl(view.Project) {
		return nil, fault.New(fault.Forbidden, "this token may watch, not act", "Use a token with the role control.")
	}
	l := s.find(id)
	if l == nil {
		return nil, ended(view)
	}
	return l, nil
}

func notFound(id string) error {
	return fault.New(fault.NotFound, "there is no session "+quoted(id), "List yours with: chaperone session list")
}

func ended(v View) error {
	message := "the session is over"
	if v.Reason != "" {
		message += ": " + v.Reason
	}
	return fault.New(fault.SessionEnded, message, "Open another with: chaperone session new")
}

// quoted shows an id as it was given, within reason.
func quoted(id string) string {
	const most = 40
	if len(id) > most {
		id = id[:most] + "…"
	}
	return "\"" + id + "\""
}
