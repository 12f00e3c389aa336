package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"chaperone/server"
)

// Options say where the story is told and with which browser.
type Options struct {
	Out     io.Writer
	Chrome  string // path of the browser; empty: the first that is found
	Version string
}

// story is what the steps hand to one another.
type story struct {
	out     io.Writer
	options Options
	data    string
	site    *Site
	person  *Person
	notes   *Page
	agent   *Agent
	shared  string // session on the shared tab
	managed string // session in a managed browser
	seen    string // the latest snapshot of the shared tab
}

// Run tells the whole story and leaves nothing behind. Its error names the step that failed.
func Run(ctx context.Context, o Options) (err error) {
	data, err := os.MkdirTemp("", "chaperone-demo-")
	if err != nil {
		return err
	}
	s := &story{out: o.Out, options: o, data: data}
	defer func() { err = errors.Join(err, s.leave()) }()
	if s.site, err = OpenSite(ctx); err != nil {
		return err
	}
	stop, err := s.startServer(ctx)
	if err != nil {
		return fmt.Errorf("step failed: start a server: %w", err)
	}
	defer func() { err = errors.Join(err, stop()) }()
	for _, step := range s.steps() {
		said, err := step.do(ctx)
		if err != nil {
			return fmt.Errorf("step failed: %s: %w", step.name, err)
		}
		s.say(step.name, said)
	}
	return nil
}

type step struct {
	name string
	do   func(context.Context) (string, error)
}

func (s *story) steps() []step {
	return []step{
		{"a person's browser", s.arrive},
		{"signed in", s.signIn},
		{"paired", s.pair},
		{"shared one tab", s.share},
		{"agent reads", s.read},
		{"agent clicks", s.click},
		{"agent gets text", s.text},
		{"write refused", s.refuse},
		{"form refused", s.refuseForm},
		{"managed browser", s.openManaged},
		{"managed, apart", s.managedApart},
		{"no way inside", s.refuseAddress},
		{"unshared", s.unshare},
		{"ledger verified", s.verify},
	}
}

func (s *story) say(name, what string) { _, _ = fmt.Fprintf(s.out, "  %-18s %s\n", name, what) }

func (s *story) leave() error {
	var err error
	if s.person != nil {
		err = s.person.Close()
	}
	if s.site != nil {
		err = errors.Join(err, s.site.Close())
	}
	return errors.Join(err, os.RemoveAll(s.data))
}

// startServer runs a server with its embedded defaults and returns how to stop it.
func (s *story) startServer(ctx context.Context) (func() error, error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- server.Run(ctx, server.Config{
			Addr: "127.0.0.1:0", Data: s.data, Chrome: s.options.Chrome, TestOrigins: []string{s.site.URL},
			Version: s.options.Version, Out: &firstLine{seen: ready}, Err: io.Discard,
		})
	}()
	stop := func() error { cancel(); return <-done }
	select {
	case err := <-done:
		cancel()
		return nil, err
	case <-ready:
	}
	var err error
	if s.agent, err = NewAgent(s.data); err != nil {
		return nil, errors.Join(err, stop())
	}
	s.say("server", "embedded defaults in "+s.data+", dashboard at "+s.agent.url)
	return stop, nil
}

// firstLine tells when the server has said that it is ready.
type firstLine struct {
	seen chan struct{}
	said bool
}

func (f *firstLine) Write(p []byte) (int, error) {
	if !f.said {
		f.said = true
		close(f.seen)
	}
	return len(p), nil
}

func (s *story) arrive(ctx context.Context) (string, error) {
	var err error
	if s.person, err = Arrive(ctx, PersonOptions{Binary: s.options.Chrome}); err != nil {
		return "", err
	}
	return s.person.Browser().Version() + " with the unpacked extension", nil
}

func (s *story) signIn(ctx context.Context) (string, error) {
	var err error
	if s.notes, err = s.person.Visit(ctx, s.site.URL+"/login"); err != nil {
		return "", err
	}
	if err := s.notes.Paste(ctx, "input", "kim"); err != nil {
		return "", err
	}
	if err := s.notes.Click(ctx, "form button"); err != nil {
		return "", err
	}
	return "the person opens " + s.site.URL + "/notes, which is behind a login", s.notes.Wait(ctx, `location.pathname === "/notes"`)
}

func (s *story) pair(ctx context.Context) (string, error) {
	var made struct{ Code string }
	if err := s.agent.Ask(ctx, http.MethodPost, "/projects/default/pairing/code", nil, &made); err != nil {
		return "", err
	}
	return "connection code pasted into the popup: Connected to project default", s.person.Pair(ctx, made.Code)
}

func (s *story) share(ctx context.Context) (string, error) {
	return "My notes, at level read; no other tab of the person can be reached", s.person.Share(ctx, s.notes, "read")
}

func (s *story) read(ctx context.Context) (string, error) {
	var err error
	if s.shared, err = s.agent.Session(ctx, "shared"); err != nil {
		return "", err
	}
	answer, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "snapshot"})
	if err != nil {
		return "", err
	}
	s.seen = answer.Snapshot.Text
	return fmt.Sprintf("%s: %d lines, through the shared tab", answer.Title, strings.Count(s.seen, "\n")+1), nil
}

func (s *story) click(ctx context.Context) (string, error) {
	ref, err := RefOf(s.seen, "link", "Harbour survey")
	if err != nil {
		return "", err
	}
	answer, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "click", "ref": ref})
	if err != nil {
		return "", err
	}
	if answer.Landed == nil || !*answer.Landed || answer.Title != "Harbour survey" {
		return "", fmt.Errorf("the click came to %q at %s", answer.Title, answer.URL)
	}
	return ref + " (link \"Harbour survey\"), landed", nil
}

func (s *story) text(ctx context.Context) (string, error) {
	answer, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "get_text"})
	if err != nil {
		return "", err
	}
	const sought = "Berth 7 is free until Friday."
	if !strings.Contains(answer.Text, sought) {
		return "", fmt.Errorf("the text lacks %q: %q", sought, answer.Text)
	}
	return sought, nil
}

func (s *story) refuse(ctx context.Context) (string, error) {
	_, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "fill", "role": "textbox", "name": "New note", "text": "x"})
	return refusedWith(err, "read_only_refused")
}

func (s *story) refuseForm(ctx context.Context) (string, error) {
	if _, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "back"}); err != nil {
		return "", err
	}
	_, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "click", "role": "button", "name": "Save note"})
	said, err := refusedWith(err, "form_refused")
	if err == nil && s.site.Posted() != 0 {
		return "", fmt.Errorf("%d notes were posted", s.site.Posted())
	}
	return said, err
}

func refusedWith(err error, code string) (string, error) {
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Code != code {
		return "", fmt.Errorf("want the refusal %s, got %w", code, errors.Join(err, errors.New("end of answer")))
	}
	return refused.Error(), nil
}

func (s *story) openManaged(ctx context.Context) (string, error) {
	var err error
	if s.managed, err = s.agent.Session(ctx, "managed"); err != nil {
		return "", err
	}
	answer, err := s.agent.Act(ctx, s.managed, map[string]any{"action": "open", "url": s.site.URL + "/"})
	if err != nil {
		return "", err
	}
	var view struct{ Confinement string }
	if err := s.agent.Ask(ctx, http.MethodGet, "/sessions/"+s.managed, nil, &view); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, read headless on the server; confined by %s", answer.Title, view.Confinement), nil
}

// managedApart shows that the managed browser has nothing of the person's: it is asked to sign in.
func (s *story) managedApart(ctx context.Context) (string, error) {
	answer, err := s.agent.Act(ctx, s.managed, map[string]any{"action": "click", "role": "link", "name": "My notes", "nth": 0})
	if err != nil {
		return "", err
	}
	if answer.Title != "Sign in" {
		return "", fmt.Errorf("the managed browser is at %q", answer.Title)
	}
	return "the same link there leads to: " + answer.Title + "; the person's login stays the person's", nil
}

func (s *story) refuseAddress(ctx context.Context) (string, error) {
	_, err := s.agent.Act(ctx, s.managed, map[string]any{"action": "open", "url": "http://169.254.169.254/latest/meta-data/"})
	return refusedWith(err, "address_refused")
}

func (s *story) unshare(ctx context.Context) (string, error) {
	if err := s.person.Unshare(ctx, s.notes); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := s.agent.Act(ctx, s.shared, map[string]any{"action": "snapshot"})
	return refusedWith(err, "tab_closed")
}

func (s *story) verify(ctx context.Context) (string, error) {
	for _, session := range []string{s.shared, s.managed} {
		if err := s.agent.Ask(ctx, http.MethodDelete, "/sessions/"+session, nil, nil); err != nil {
			return "", err
		}
	}
	var report struct {
		Rows int64
		Hash string
		Bad  *struct{ Why string }
	}
	if err := s.agent.Ask(ctx, http.MethodGet, "/ledger/verify", nil, &report); err != nil {
		return "", err
	}
	if report.Bad != nil || report.Rows == 0 {
		return "", fmt.Errorf("the ledger does not hold: %+v", report)
	}
	return fmt.Sprintf("%d rows, chain whole, last hash %.12s", report.Rows, report.Hash), nil
}
