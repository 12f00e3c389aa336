package server

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"

	"chaperone/egress"
	"chaperone/relay/program"
	"chaperone/server/chrome"
)

// refusals knows why the way out let a managed session not through: Chrome tells of a tunnel only that there was none.
type refusals struct {
	mu      sync.Mutex
	reasons map[string]map[string]string // by session and host
}

// mostRefusals bounds the hosts that are kept of a session; a page may name as many as it likes.
const mostRefusals = 256

func newRefusals() *refusals { return &refusals{reasons: map[string]map[string]string{}} }

// note keeps one decision.
func (r *refusals) note(d egress.Decision) {
	if d.Session == "" || d.Verdict == egress.VerdictCut {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.reasons[d.Session]
	if d.Verdict == egress.VerdictAllow {
		delete(of, d.Host)
		return
	}
	if of == nil || len(of) >= mostRefusals {
		of = map[string]string{}
		r.reasons[d.Session] = of
	}
	of[d.Host] = d.Reason
}

func (r *refusals) forget(session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.reasons, session)
}

func (r *refusals) of(session, host string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reasons[session][strings.ToLower(host)]
}

// noTunnel is Chrome's name for it.
const noTunnel = "net::ERR_TUNNEL_CONNECTION_FAILED"

// explain fills in why, where a program tells of a document that did not come for want of a tunnel.
func (r *refusals) explain(session string, p program.Program, ran *program.Result) {
	if failed := ran.Error; failed != nil && strings.HasPrefix(failed.Message, noTunnel) {
		answer := program.Answer{URL: addressIn(p, failed.Step)}
		_ = json.Unmarshal(failed.Detail, &answer) // one that does not read leaves the address
		if r.fill(session, &answer) {
			failed.Detail = encoded(answer)
		}
	}
	for i, step := range ran.Steps {
		var settled program.Settled
		if !bytes.Contains(step, []byte(noTunnel)) || json.Unmarshal(step, &settled) != nil || settled.Answer == nil {
			continue
		}
		if settled.Answer.Error == noTunnel && r.fill(session, settled.Answer) {
			ran.Steps[i] = encoded(settled)
		}
	}
}

// encoded is what holds nothing that does not encode.
func encoded(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// fill reports whether there is something to tell.
func (r *refusals) fill(session string, answer *program.Answer) bool {
	at, err := url.Parse(answer.URL)
	if err != nil {
		return false
	}
	answer.Refused = r.of(session, at.Hostname())
	return answer.Refused != ""
}

// addressIn is where a step of a program goes.
func addressIn(p program.Program, step int) string {
	var to struct {
		URL string `json:"url"`
	}
	if step >= 0 && step < len(p.Steps) {
		_ = json.Unmarshal(p.Steps[step].Params, &to) // nothing where it goes nowhere
	}
	return to.URL
}

// managedBrowser is a managed session's, which says why the way out did not let it through.
type managedBrowser struct {
	*chrome.Browser
	session  string
	refusals *refusals
}

// Run is the browser's, with that filled in.
func (b managedBrowser) Run(ctx context.Context, p program.Program) (program.Result, error) {
	ran, err := b.Browser.Run(ctx, p)
	b.refusals.explain(b.session, p, &ran)
	return ran, err
}
