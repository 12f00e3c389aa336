package session

import (
	"context"
	"encoding/json"
	"fmt"

	"chaperone/egress"
	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/browse"
	"chaperone/server/fault"
	"chaperone/server/ledger"
)

// Do is the one door for every action: who asks and what the policy permits, the journal, the browser, the
// ledger, the events, the answer. Its error is a *fault.Fault; what was refused or failed has a ledger row too.
func (s *Service) Do(ctx context.Context, actor account.Actor, id string, a browse.Action) (browse.Result, error) {
	l, err := s.mine(ctx, actor, id)
	if err != nil {
		return browse.Result{}, err
	}
	seq := l.begin(s.config.Now())
	var result browse.Result
	defer func() { l.finish(s.config.Now(), result.Tab) }()

	pending, err := s.journal(ctx, l, actor, a)
	if err != nil {
		return browse.Result{}, err
	}
	result, failure := s.run(ctx, l, a)
	result.Session, result.Seq = l.id, seq
	row, err := s.record(ctx, pending, result, failure)
	if err != nil {
		return browse.Result{}, err
	}
	result.Ledger = &browse.Receipt{Seq: row.Seq, Hash: row.Hash}
	s.tellAction(ctx, l, a, result, failure)
	if failure != nil {
		return browse.Result{}, failure
	}
	return result, nil
}

// journal writes down what is about to be done; without that it is not done.
func (s *Service) journal(ctx context.Context, l *living, actor account.Actor, a browse.Action) (ledger.Pending, error) {
	request, err := json.Marshal(a)
	if err != nil {
		return ledger.Pending{}, fmt.Errorf("encode the action: %w", err)
	}
	entry := l.entry(ledgerActor(actor), a.Action)
	entry.Direction, entry.Peer, entry.Request = "out", l.peer(a), request
	pending, err := s.config.Ledger.Begin(ctx, entry)
	if err != nil {
		return ledger.Pending{}, fault.Wrap(err, "the action was not run: the journal could not be written")
	}
	return pending, nil
}

// peer is the host that the action is about: where it opens, else where its tab is. What cannot be read as an
// address has none; the action goes on, and whoever judges addresses judges it.
func (l *living) peer(a browse.Action) string {
	raw := l.address(a.Tab)
	if a.Action == "open" {
		raw = a.URL
	}
	u, err := egress.ReadURL(raw)
	if err != nil {
		return ""
	}
	return u.Host
}

// address is where a tab is: the one that is named, else that of the latest action, else the first.
func (l *living) address(tab string) string {
	tab = or(tab, l.latestTab())
	for _, t := range l.browser.Tabs() {
		if t.ID == tab || tab == "" {
			return t.URL
		}
	}
	return ""
}

func (s *Service) run(ctx context.Context, l *living, a browse.Action) (browse.Result, *fault.Fault) {
	result, err := l.engine.Do(ctx, a)
	if err != nil {
		return browse.Result{Action: a.Action}, l.explain(asFault(err))
	}
	if a.Action == "status" {
		result.Notices = append(result.Notices, l.status()...)
	}
	if err := s.keepPicture(ctx, l, &result); err != nil {
		return browse.Result{Action: a.Action}, asFault(err)
	}
	if err := s.keepFile(ctx, l, &result); err != nil {
		return browse.Result{Action: a.Action}, asFault(err)
	}
	return result, nil
}

// explain tells of the session's end rather than of what the end did to the action.
func (l *living) explain(f *fault.Fault) *fault.Fault {
	if l.isOver() {
		return fault.Of(ended(l.view()))
	}
	return f
}

// status says what an agent may need to know of its browser.
func (l *living) status() []string {
	notices := []string{"backend: " + string(l.backend), "policy: " + string(l.project.Policy)}
	if l.confinement != "" {
		notices = append(notices, "confinement: "+l.confinement)
	}
	return notices
}

// keepPicture makes an artifact of the result's picture.
func (s *Service) keepPicture(ctx context.Context, l *living, r *browse.Result) error {
	if len(r.Picture) == 0 || r.Screenshot == nil {
		return nil
	}
	kept, err := s.config.Artifacts.Save(ctx, artifact.Meta{
		Account: l.account, Project: l.project.ID, Session: l.id, Kind: "screenshot", MIME: "image/png",
		Width: r.Screenshot.Width, Height: r.Screenshot.Height, Deliver: r.Deliver,
	}, r.Picture)
	if err != nil {
		return fmt.Errorf("keep the screenshot: %w", err)
	}
	r.Screenshot.Artifact, r.Screenshot.Href = kept.ID, "/api/v1/artifacts/"+kept.ID
	return nil
}

// keepFile makes an artifact of the file that the result brought.
func (s *Service) keepFile(ctx context.Context, l *living, r *browse.Result) error {
	if r.Download == nil {
		return nil
	}
	kept, err := s.config.Artifacts.Save(ctx, artifact.Meta{
		Account: l.account, Project: l.project.ID, Session: l.id, Kind: "download", MIME: artifact.Opaque, Deliver: r.Deliver,
	}, r.File)
	if err != nil {
		return fmt.Errorf("keep the download: %w", err)
	}
	r.Download.Artifact, r.Download.Href = kept.ID, "/api/v1/artifacts/"+kept.ID
	return nil
}

// record writes what came of the action; only then is it answered.
func (s *Service) record(ctx context.Context, p ledger.Pending, r browse.Result, failure *fault.Fault) (ledger.Row, error) {
	outcome := ledger.Outcome{Outcome: ledger.Done}
	var answer any = r
	if failure != nil {
		outcome.Outcome, answer = string(failure.Code), failure
	}
	response, err := json.Marshal(answer)
	if err != nil {
		return ledger.Row{}, fmt.Errorf("encode the answer: %w", err)
	}
	outcome.Response = response
	row, err := s.config.Ledger.Finish(context.WithoutCancel(ctx), p, outcome)
	if err != nil {
		return ledger.Row{}, fault.Wrap(err, "the action ran, but its ledger row could not be written")
	}
	return row, nil
}
