package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

type pageState struct {
	whereabouts
	Doc     string `json:"doc"`
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Refused string `json:"refused"`
}

// reading gathers an answer from a program's steps.
type reading struct {
	job job
	// options are the session's rules.
	options Options
	ran     program.Result
	result  Result
	state   pageState
	reply   struct { // to the navigation
		LoaderID string `json:"loaderId"`
	}
}

func (e *Engine) read(ctx context.Context, j job, ran program.Result) (Result, error) {
	r := &reading{job: j, options: e.options, ran: ran, result: Result{Tab: ran.Tab, Dialogs: []program.Dialog{}, Notices: []string{}}}
	if j.tab != program.NewTab {
		r.result.Tab = j.tab
	}
	if err := r.readState(); err != nil {
		return Result{}, err
	}
	e.name(r)
	r.stand()
	if r.state.Refused != "" {
		return Result{}, r.unreached()
	}
	if r.state.URL != "" && !e.options.admits(r.state.whereabouts, true) {
		return Result{}, e.takeBack(ctx, j, r.result.Tab)
	}
	e.stands[r.result.Tab] = r.state.URL
	err := e.readAll(r)
	return r.result, err
}

func (e *Engine) readAll(r *reading) error {
	for _, read := range []func(*reading) error{readLanding, readIdle, e.readSnapshot, readText, readValue, readScroll, readPicture} {
		if err := read(r); err != nil {
			return err
		}
	}
	r.events()
	if isBotCheck(r.state.Title, e.seen[r.result.Tab].lines) {
		return botCheck()
	}
	return nil
}

// decode reads one step's result; it answers false where the plan has no such step.
func (r *reading) decode(step int, into any) (bool, error) {
	if step == absent || step >= len(r.ran.Steps) {
		return false, nil
	}
	if err := json.Unmarshal(r.ran.Steps[step], into); err != nil {
		return false, fault.Wrap(fmt.Errorf("decode step %d: %w", step, err), "the browser answered in another shape")
	}
	return true, nil
}

func (r *reading) readState() error {
	if _, err := r.decode(r.job.plan.state, &r.state); err != nil {
		return err
	}
	_, err := r.decode(r.job.plan.navigate, &r.reply)
	return err
}

// stand tells where the tab is now and how it came there.
func (r *reading) stand() {
	r.result.URL, r.result.Title, r.result.Status = short(r.state.URL, longestURL), short(r.state.Title, longestTitle), r.state.Status
	switch {
	case r.job.plan.navigate == absent:
		if r.job.moved {
			r.notice("The page had moved to another address since the last answer.")
		}
		return
	case r.reply.LoaderID == "":
		r.notice("Only the part after # changed: it is the same document.")
	case !isSamePlace(r.job.opens, r.state.URL):
		r.notice("The address led on to another one: see url.")
	}
	if r.state.Status >= 400 {
		r.notice(fmt.Sprintf("The server answered with status %d.", r.state.Status))
	}
}

// unreached is what the egress proxy said instead of a page: no by its rules, or that nobody answered it.
func (r *reading) unreached() error {
	why := " (" + short(r.state.Refused, longestName) + ")"
	if r.state.Status == http.StatusForbidden {
		return fault.New(fault.AddressRefused, "The address may not be reached from here"+why, hint(fault.AddressRefused))
	}
	return fault.New(fault.NavigationFailed, "The page did not load"+why, hint(fault.NavigationFailed))
}

// isSamePlace compares addresses without the part after #.
func isSamePlace(a, b string) bool {
	a, b = program.Clip(a, longestURL), program.Clip(b, longestURL)
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

func (r *reading) notice(text string) { r.result.Notices = append(r.result.Notices, text) }

// landingUnknown is told where nothing was seen of a click that was sent: it may have been heeded all the same.
const landingUnknown = "The click was sent; whether it landed could not be told. Do not click again before you know."

// readLanding takes a click for done only when a trusted event reached its element.
func readLanding(r *reading) error {
	var got struct {
		Landed bool `json:"landed"`
		Unsure bool `json:"unsure"`
	}
	found, err := r.decode(r.job.plan.landed, &got)
	if err != nil || !found {
		return err
	}
	if got.Unsure {
		r.notice(landingUnknown)
		return nil
	}
	if !got.Landed {
		return fault.New(fault.NotLanded, "The click was sent but did not reach the element", "Something moved or lies over it: take a snapshot.")
	}
	r.result.Landed = &got.Landed
	return nil
}

// readIdle takes a page that never fell quiet for what it is.
func readIdle(r *reading) error {
	var settled program.Settled
	if !r.job.action.Idle {
		return nil
	}
	found, err := r.decode(r.job.plan.settle, &settled)
	if err != nil || !found || settled.Quiet {
		return err
	}
	return fault.New(fault.Timeout, "The page never fell quiet", "Wait for a text or an address instead.")
}

func readValue(r *reading) error {
	var held struct {
		Value  string `json:"value"`
		Secret bool   `json:"secret"`
	}
	found, err := r.decode(r.job.plan.value, &held)
	if err != nil || !found || held.Secret {
		return err
	}
	value := program.Clip(cleanLines(held.Value), longestValue)
	r.result.Value = &value
	if normal(held.Value) != normal(r.job.action.Text) {
		r.notice("The field holds something else than what was entered: see value.")
	}
	return nil
}

func normal(s string) string {
	return strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
}

func readScroll(r *reading) error {
	var s struct {
		Pane  string `json:"pane"`
		Moved int    `json:"moved"`
		Above int    `json:"more_above"`
		Below int    `json:"more_below"`
	}
	found, err := r.decode(r.job.plan.scroll, &s)
	if err != nil || !found {
		return err
	}
	if s.Moved == 0 && r.job.action.Direction != "" {
		r.notice("It cannot scroll further that way.")
	}
	r.notice(fmt.Sprintf("Scrolled the %s by %d px; %d px above, %d px below.", roleText(s.Pane), s.Moved, s.Above, s.Below))
	return nil
}

func readPicture(r *reading) error {
	var shot struct {
		Data []byte `json:"data"` // encoding/json reads base64
	}
	found, err := r.decode(r.job.plan.shot, &shot)
	if err != nil || !found {
		return err
	}
	size, err := png.DecodeConfig(bytes.NewReader(shot.Data))
	if err != nil {
		return fault.Wrap(fmt.Errorf("read picture: %w", err), "the browser's picture does not read")
	}
	r.result.Picture = shot.Data
	r.result.Screenshot = &Screenshot{Width: size.Width, Height: size.Height}
	return nil
}

// events tells of dialogs and tabs that came up meanwhile.
func (r *reading) events() {
	for _, d := range r.ran.Dialogs[max(0, len(r.ran.Dialogs)-mostDialogs):] {
		d.Type, d.Message = roleText(d.Type), short(d.Message, longestDialog)
		r.result.Dialogs = append(r.result.Dialogs, d)
	}
	for _, tab := range r.ran.Opened {
		r.result.Opened = append(r.result.Opened, cleanTab(tab))
		r.notice("The page opened tab " + tab.ID + "; " + r.result.Tab + " is still selected. Use select_tab to go there.")
	}
}
