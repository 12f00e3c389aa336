package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/project"
	"chaperone/server/store"
)

// Open makes a session and its browser. It waits for a place up to the limit, then answers busy.
func (s *Service) Open(ctx context.Context, actor account.Actor, spec Spec) (View, error) {
	l, backend, err := s.plan(ctx, actor, spec)
	if err != nil {
		return View{}, err
	}
	if err := s.places.take(ctx, l.owner()); err != nil {
		return View{}, err
	}
	if err := s.start(ctx, l, backend); err != nil {
		s.places.give(l.owner())
		return View{}, err
	}
	if err := s.recheck(ctx, l); err != nil {
		return View{}, err
	}
	s.config.Logger.InfoContext(ctx, "session opened",
		slog.String("session", l.id), slog.String("project", l.project.ID), slog.String("backend", string(l.backend)))
	return l.view(), nil
}

// recheck ends a session whose project got other rules while it was opening: who changes them ends the sessions
// that live, and this one was not yet among them.
func (s *Service) recheck(ctx context.Context, l *living) error {
	now, err := s.config.Projects.Get(ctx, l.actor, l.project.ID)
	if err == nil && now.Policy == l.project.Policy && now.Profile == l.project.Profile && slices.Equal(now.AllowDomains, l.project.AllowDomains) {
		return nil
	}
	s.end(l, byServer(Ended, "project_changed", RulesChanged))
	return errors.Join(err, ended(l.view()))
}

// plan decides what the session will be, before anything is taken or started.
func (s *Service) plan(ctx context.Context, actor account.Actor, spec Spec) (*living, Backend, error) {
	p, err := s.config.Projects.Get(ctx, actor, spec.Project)
	if err != nil {
		return nil, nil, err
	}
	if !actor.CanControl(p.ID) {
		return nil, nil, fault.New(fault.Forbidden, "this token may watch, not act", "Use a token with the role control.")
	}
	kind := or(project.Backend(spec.Backend), p.Backend)
	backend, ok := s.config.Backends[kind]
	if !ok {
		return nil, nil, noBackend(kind)
	}
	spec.AllowDomains, err = narrow(p.AllowDomains, spec.AllowDomains)
	if err != nil {
		return nil, nil, err
	}
	now := s.config.Now()
	return &living{
		id: "s_" + ulid.Make().String(), account: actor.Account, actor: actor, project: p, spec: spec,
		backend: kind, confinement: backend.Describe(), created: now, last: now, state: Starting,
		over: make(chan struct{}), gone: make(chan struct{}), showing: newShowing(),
	}, backend, nil
}

func noBackend(kind project.Backend) error {
	switch kind {
	case project.Managed, project.Shared, project.Attached:
		return fault.New(fault.Unavailable, "this server has no "+string(kind)+" browsers",
			"Use the backend managed or shared.")
	}
	return fault.New(fault.BadRequest, "there is no backend "+quoted(string(kind)), "Use managed, shared or attached.")
}

// narrow keeps a session within its project's domains: a wished domain must be one of them or beneath one.
func narrow(allowed, wished []string) ([]string, error) {
	if len(allowed) == 0 || len(wished) == 0 {
		return slices.Concat(allowed, wished), nil
	}
	for _, w := range wished {
		if !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, w) }) {
			return nil, fault.New(fault.DomainRefused, "the project does not allow the domain "+quoted(w),
				"A session may narrow its project's domains, not widen them.")
		}
	}
	return wished, nil
}

func covers(allowed, wished string) bool {
	return allowed == wished || (strings.HasPrefix(allowed, "*.") && browse.Covers(allowed, strings.TrimPrefix(wished, "*.")))
}

// start journals the opening, opens the browser and lets the session live.
func (s *Service) start(ctx context.Context, l *living, backend Backend) error {
	pending, err := s.config.Ledger.Begin(ctx, l.entry(ledgerActor(l.actor), "session.open"))
	if err != nil {
		return fmt.Errorf("journal the session: %w", err)
	}
	if err := s.config.Store.SaveSession(ctx, l.row()); err != nil {
		return s.failed(ctx, l, pending, asFault(fmt.Errorf("save the session: %w", err)))
	}
	l.browser, err = backend.Open(ctx, Opening{
		Session: l.id, Account: l.account, Project: l.project.ID, Level: level(l.project.Policy), Viewport: l.spec.Viewport,
		AllowDomains: l.spec.AllowDomains, Profile: l.project.Profile,
	})
	if err != nil {
		return s.failed(ctx, l, pending, asFault(err))
	}
	l.engine = browse.New(l.browser, browse.Options{
		ReadOnly: l.project.Policy != project.Interactive, AllowDomains: l.spec.AllowDomains,
		CheckURL: backend.CheckURL, Timeout: s.config.Limits.Action, Selected: l.selected(),
	})
	if _, err := s.config.Ledger.Finish(ctx, pending, ledger.Outcome{Outcome: ledger.Done}); err != nil {
		return errors.Join(fmt.Errorf("write the session to the ledger: %w", err), s.undo(ctx, l))
	}
	l.setState(Active, "", time.Time{})
	if err := s.live(ctx, l); err != nil {
		return errors.Join(err, s.undo(ctx, l))
	}
	s.tell(ctx, l, "session.opened", map[string]any{
		"backend": l.backend, "policy": l.project.Policy, "label": l.spec.Label, "confinement": l.confinement,
	})
	return nil
}

// live admits the session to those that can be acted in and lets a goroutine mind its end.
func (s *Service) live(ctx context.Context, l *living) error {
	s.livingMu.Lock()
	defer s.livingMu.Unlock()
	if s.closed {
		return fault.New(fault.Unavailable, "the server is stopping", "Try again when it is back.")
	}
	if err := s.config.Store.UpdateSession(ctx, l.account, l.id, store.SessionChange{State: string(Active)}); err != nil {
		return err
	}
	s.living[l.id] = l
	s.minds.Go(func() { s.mind(l) })
	return nil
}

// failed records a session whose browser could not be had.
func (s *Service) failed(ctx context.Context, l *living, pending ledger.Pending, why *fault.Fault) error {
	after := context.WithoutCancel(ctx)
	_, err := s.config.Ledger.Finish(after, pending, ledger.Outcome{Outcome: string(why.Code)})
	if err = errors.Join(err, s.saveFailure(after, l, why.Message)); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// undo closes a browser whose session does not come to live.
func (s *Service) undo(ctx context.Context, l *living) error {
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer cancel()
	return errors.Join(l.browser.Close(after), s.saveFailure(after, l, "the session could not be recorded"))
}

func (s *Service) saveFailure(ctx context.Context, l *living, reason string) error {
	return s.config.Store.UpdateSession(ctx, l.account, l.id,
		store.SessionChange{State: string(Failed), Ended: s.config.Now(), Reason: reason})
}

func (l *living) row() store.Session {
	return store.Session{
		ID: l.id, Account: l.account, Project: l.project.ID, Backend: string(l.backend), Label: l.spec.Label,
		Run: l.spec.Run, State: string(Starting), Created: l.created,
		ActorKind: string(l.actor.Kind), ActorID: l.actor.ID(),
		Policy: string(l.project.Policy), Confinement: l.confinement,
	}
}

func level(p project.Policy) program.Level {
	if p == project.Interactive {
		return program.LevelAct
	}
	return program.LevelRead
}

// asFault makes an edge's error one of ours: both speak the contract's codes.
func asFault(err error) *fault.Fault {
	if edge, ok := errors.AsType[*program.Error](err); ok {
		return fault.New(fault.Code(edge.Code), edge.Message, hint(fault.Code(edge.Code)))
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fault.New(fault.Timeout, "the browser was not ready in time", "Try again; if it stays so, see: chaperone doctor")
	}
	return fault.Of(err)
}

func hint(code fault.Code) string {
	if code == fault.NotConnected {
		return "A browser that was connected comes back by itself while it is open. Else open the extension's popup in your browser and connect it (chaperone pair prints the code)."
	}
	return ""
}
