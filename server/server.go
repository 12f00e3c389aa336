package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"chaperone/egress"
	"chaperone/packager"
	"chaperone/relay"
	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/chrome"
	"chaperone/server/fault"
	"chaperone/server/ledger"
	"chaperone/server/live"
	"chaperone/server/project"
	"chaperone/server/session"
	"chaperone/server/store"
	"chaperone/server/web"
)

// ExtensionID is the id that the extension's manifest key pins.
const ExtensionID = "codmbdnikppphedddibekmoeejjjmbig"

// endWait bounds the whole end: SIGTERM is answered within ten seconds.
const endWait = 9 * time.Second

// requestGrace is how much of it requests under way have.
const requestGrace = 2 * time.Second

// politeWait is how long of it browsers may take to close by themselves; who still runs then is killed. What hangs would
// otherwise use up the time in which the ends of sessions are written down.
const politeWait = 3 * time.Second

// Run serves until ctx ends and returns when nothing of the server is left. Errors of configuration are
// faults with a hint.
func Run(ctx context.Context, c Config) error {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return err
	}
	log, err := c.logger()
	if err != nil {
		return err
	}
	f, err := openFolder(c.Data)
	if err != nil {
		return err
	}
	r := &rooms{config: c, log: log, folder: f}
	err = r.run(ctx)
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	closed := errors.Join(r.close(after), f.close())
	if err == nil && errors.Is(closed, context.DeadlineExceeded) {
		log.ErrorContext(ctx, "server ended with trouble", slog.Any("error", closed))
		return errUnwritten()
	}
	return errors.Join(err, closed)
}

// errUnwritten is for an end that had no time to be written down.
func errUnwritten() error {
	return fault.New(fault.Unavailable, "the server has stopped, but the ends of its sessions could not be written down: is its database in use by another program?",
		"Start it again: what is missing is added to the ledger then, with the outcome lost.")
}

// rooms are everything a server is made of, and how to end them, last made first.
type rooms struct {
	config Config
	log    *slog.Logger
	folder *folder
	ends   []func(context.Context) error

	metrics   *prometheus.Registry
	store     *store.Store
	secrets   *account.Secrets
	ledger    *ledger.Ledger
	accounts  *account.Accounts
	projects  *project.Projects
	artifacts *artifact.Artifacts
	proxy     *egress.Proxy
	refusals  *refusals
	pool      *chrome.Pool
	endpoint  *endpoint.Server
	table     *cdp.Table
	hub       *relay.Hub
	sessions  *session.Service
	viewers   *live.Hub
	news      *news
	doors     *doors
	hosts     *web.Hosts
}

func (r *rooms) run(ctx context.Context) error {
	r.warn(ctx)
	for _, open := range []func(context.Context) error{
		r.openRecords, r.recover, r.openDoors, r.openEgress, r.openChrome, r.openEndpoint, r.openSessions,
	} {
		if err := open(ctx); err != nil {
			return err
		}
	}
	return r.serve(ctx)
}

// close ends the rooms, the last made first.
func (r *rooms) close(ctx context.Context) error {
	var err error
	for _, end := range slices.Backward(r.ends) {
		err = errors.Join(err, end(ctx))
	}
	return err
}

func (r *rooms) atEnd(end func(context.Context) error) { r.ends = append(r.ends, end) }

func (r *rooms) warn(ctx context.Context) {
	for _, origin := range r.config.TestOrigins {
		r.log.WarnContext(ctx, "managed browsers may reach a test origin on this machine", slog.String("origin", origin))
	}
}

// openRecords opens what is durable: the store and the rooms that stand on it.
func (r *rooms) openRecords(ctx context.Context) error {
	var err error
	if r.store, err = store.Open(ctx, r.folder.path); err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	r.atEnd(func(context.Context) error { return r.store.Close() })
	if r.secrets, err = account.OpenSecrets(r.folder.path); err != nil {
		return err
	}
	r.ledger = ledger.New(r.store, nil)
	if r.accounts, err = account.Open(account.Config{Store: r.store, Ledger: r.ledger, Dir: r.folder.path}); err != nil {
		return err
	}
	r.projects = project.New(project.Config{Store: r.store, Ledger: r.ledger, Secrets: r.secrets})
	linkKey, err := r.secrets.Key("artifact links")
	if err != nil {
		return err
	}
	r.artifacts, err = artifact.Open(artifact.Config{
		Store: r.store, Dir: r.folder.path, LinkKey: linkKey,
		PerSession: r.config.ScreenshotsPerSession, Retention: r.config.Retention,
	})
	if err != nil {
		return fmt.Errorf("open the artifacts: %w", err)
	}
	r.atEnd(func(context.Context) error { return r.artifacts.Close() })
	return nil
}

// recover makes good what a crash left, and the embedded default where there is nothing yet.
func (r *rooms) recover(ctx context.Context) error {
	lost, err := r.ledger.Recover(ctx)
	if err != nil {
		return fmt.Errorf("recover the ledger's journal: %w", err)
	}
	if lost > 0 {
		r.log.WarnContext(ctx, "actions were lost when the server last stopped", slog.Int("actions", lost))
	}
	swept, err := r.artifacts.Sweep(ctx)
	if err != nil {
		return fmt.Errorf("sweep the artifacts: %w", err)
	}
	r.log.DebugContext(ctx, "artifacts swept", slog.Int("artifacts", swept))
	me, err := r.accounts.EnsureDefault(ctx)
	if err != nil {
		return fmt.Errorf("make the account: %w", err)
	}
	owner := account.Actor{Account: me.ID, AccountName: me.Name, Kind: account.Person, Role: account.Control}
	if _, err := r.projects.EnsureDefault(ctx, owner); err != nil {
		return fmt.Errorf("make the project: %w", err)
	}
	_, err = r.accounts.EnsureLocalToken(ctx, r.folder.path)
	return err
}

// openDoors takes the address, so that everything after knows the server's own names. Nobody is answered yet.
func (r *rooms) openDoors(ctx context.Context) error {
	var err error
	if r.doors, err = openDoors(ctx, r.config.Addr, r.folder); err != nil {
		return err
	}
	r.atEnd(func(context.Context) error { return r.doors.close() })
	r.hosts, err = web.NewHosts(r.doors.port(), r.config.PublicURL)
	return err
}

func (r *rooms) openEgress(context.Context) error {
	r.metrics = prometheus.NewRegistry()
	r.refusals = newRefusals()
	var err error
	r.proxy, err = egress.New(egress.Options{
		TestOrigins: r.config.TestOrigins, Deny: r.doors.own(), Logger: r.log, Registerer: r.metrics, OnDecision: r.decided,
	})
	if err != nil {
		return fmt.Errorf("open egress: %w", err)
	}
	r.atEnd(r.proxy.Close)
	return nil
}

// decided keeps why, for whoever asks, and tells the session; none has a way out before there are sessions.
func (r *rooms) decided(d egress.Decision) {
	r.refusals.note(d)
	if d.Verdict == egress.VerdictDeny && d.Session != "" {
		r.sessions.Refused(d)
	}
}

func (r *rooms) openChrome(ctx context.Context) error {
	script, err := packager.PageScript()
	if err != nil {
		return err
	}
	run, err := r.folder.runFolder()
	if err != nil {
		return err
	}
	r.pool, err = chrome.NewPool(ctx, chrome.Options{
		Binary: r.config.Chrome, RunDir: run, ProfileRoot: r.config.ProfileRoot, Egress: ways{r.proxy, r.refusals},
		PageScript: script, RequireConfinement: r.config.RequireConfinement, Warm: r.config.warm(), Logger: r.log,
	})
	if err != nil {
		return err
	}
	r.atEnd(func(ctx context.Context) error { return errors.Join(r.pool.Close(ctx), dropIfEmpty(run)) })
	c := r.pool.Confinement()
	r.log.InfoContext(ctx, "managed browsers are confined", slog.String("by", string(c.Mode)), slog.String("reason", c.Reason))
	return nil
}

// openEndpoint listens for CDP clients; sessions let them in.
func (r *rooms) openEndpoint(ctx context.Context) error {
	var err error
	if r.endpoint, err = endpoint.New(ctx, endpoint.Options{Addr: r.config.CDPListen, Logger: r.log}); err != nil {
		return err
	}
	r.atEnd(func(context.Context) error { return r.endpoint.Close() })
	r.table, err = cdp.Load()
	return err
}

// openSessions opens the relay, the sessions and what tells of both.
func (r *rooms) openSessions(ctx context.Context) error {
	r.news = newNews()
	r.hub = relay.NewHub(relay.Options{
		Authority: authority{r.projects}, Host: r.hosts.Has, ServerName: r.hosts.URL(),
		ExtensionID: ExtensionID, Events: r.news.take, Logger: r.log,
	})
	r.sessions = session.New(session.Config{
		Store: r.store, Projects: r.projects, Ledger: r.ledger, Artifacts: r.artifacts, Logger: r.log,
		Backends: map[project.Backend]session.Backend{
			project.Managed: managed{pool: r.pool, testOrigins: r.config.TestOrigins, refusals: r.refusals},
			project.Shared:  shared{r.hub},
		},
		Endpoint: clients{r.endpoint, r.table},
		Limits: session.Limits{
			Sessions: r.config.MaxSessions, SessionsPerProject: r.config.SessionsPerProject,
			Idle: r.config.IdleTimeout, Action: r.config.ActionTimeout,
		},
	})
	r.viewers = live.NewHub(program.CastOptions{MaxWidth: 1280, MaxHeight: 1280, Quality: 60, FPS: 10})
	r.news.carry(r.ledger, r.sessions, r.log)
	r.atEnd(r.news.stop)
	r.atEnd(r.hub.Close)
	r.atEnd(r.endSessions)
	return r.sessions.Recover(ctx)
}

// endSessions ends who watches and every session, and returns when their ends are written down.
func (r *rooms) endSessions(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() {
		r.viewers.Close()
		ended <- r.sessions.Shutdown(ctx)
	}()
	polite := time.NewTimer(politeWait)
	defer polite.Stop()
	select {
	case err := <-ended:
		return err
	case <-polite.C:
		return errors.Join(r.pool.Close(ctx), <-ended)
	}
}

// serve announces the server and answers until ctx ends.
func (r *rooms) serve(ctx context.Context) error {
	handler, err := r.handler()
	if err != nil {
		return err
	}
	serving, served := make(chan struct{}), make(chan error, 1)
	go func() { served <- r.doors.serve(ctx, handler, serving) }()
	<-serving
	if err = r.announce(ctx); err != nil {
		r.doors.stop()
	}
	return errors.Join(err, <-served, r.folder.withdraw())
}

// announce says where the server is: to programs in server.json, to a person on one line.
func (r *rooms) announce(ctx context.Context) error {
	me, err := r.accounts.EnsureDefault(ctx)
	if err != nil {
		return err
	}
	code, err := r.accounts.LoginCode(ctx, me.ID)
	if err != nil {
		return fmt.Errorf("make a login code: %w", err)
	}
	info := Info{URL: r.hosts.URL(), Socket: r.doors.private.Addr().String(), PID: os.Getpid(), Version: r.config.Version}
	if err := r.folder.announce(info); err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.config.Out, "Chaperone is ready. Dashboard (this link logs in once, for ten minutes): %s/#code=%s\n", info.URL, code)
	return err
}
