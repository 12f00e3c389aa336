package browse

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
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
	Type    string `json:"type"` // of media, where it is no web page
	Picture *struct {
		Width      int `json:"width"`
		Height     int `json:"height"`
		PageWidth  int `json:"page_width"`
		PageHeight int `json:"page_height"`
	} `json:"picture"`
}

// reading gathers an answer from a program's steps.
type reading struct {
	job job
	// options are the session's rules.
	options Options
	ran     program.Result
	result  Result
	state   pageState
	turned  turned
	far     difference // in what was looked for
	settled program.Settled
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
	e.stands[r.result.Tab], e.titles[r.result.Tab] = r.state.URL, r.result.Title
	r.ran.Opened = e.arrived(ctx, r.ran.Opened)
	err := e.readAll(r)
	return r.result, err
}

func (e *Engine) readAll(r *reading) error {
	for _, read := range []func(*reading) error{readLanding, readIdle, e.readSnapshot, e.readText, e.readBase, readValue, readToggled, readSelected, readScroll, readReturned, readDownload, readPicture} {
		if err := read(r); err != nil {
			return err
		}
	}
	e.noteBlind(r.job, r.result.Tab)
	r.events()
	r.judgeAsked()
	if isBotCheck(r.state.Title, e.seen[r.result.Tab].lines) {
		return botCheck()
	}
	return nil
}

// decode reads one step's result; it answers false where the plan has no such step.
func (r *reading) decode(step int, into any) (bool, error) {
	if step == absent || step >= len(r.ran.Steps) || string(r.ran.Steps[step]) == "null" { // or it was left out
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
	if _, err := r.decode(r.job.plan.settle, &r.settled); err != nil {
		return err
	}
	_, err := r.decode(r.job.plan.navigate, &r.reply)
	return err
}

// isSamePlace compares addresses without the part after #.
func isSamePlace(a, b string) bool {
	a, b = program.Clip(a, longestURL), program.Clip(b, longestURL)
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/")
}

// say tells what the page says of something. It is page text, which no notice may hold.
func (r *reading) say(of, text string) {
	r.result.Said = append(r.result.Said, of+": "+short(text, longestWhy))
}

func (r *reading) notice(text string) { r.result.Notices = append(r.result.Notices, text) }

// landingUnknown is told where nothing was seen of a click that was sent: it may have been heeded all the same.
const landingUnknown = "The click was sent; whether it landed could not be told. Do not click again before you know."

// landedByHalf is told where the page moved or replaced what was pressed before the button came up.
const landedByHalf = "The button went down on the element, but the click that should follow did not reach it: the page moved or replaced it meanwhile. Look whether it had its effect before you repeat it."

// readLanding takes a click for done only when a trusted event reached its element.
func readLanding(r *reading) error {
	var got struct {
		Landed bool `json:"landed"`
		Unsure bool `json:"unsure"`
		Half   bool `json:"half"`
	}
	for _, step := range []int{r.job.plan.landed, r.job.plan.dropped} {
		found, err := r.decode(step, &got)
		switch {
		case err != nil:
			return err
		case !found:
			continue
		case got.Unsure:
			r.notice(landingUnknown)
			return nil
		case !got.Landed:
			return notLanded(r.job.action.Action, step == r.job.plan.dropped)
		}
		r.result.Landed = &got.Landed
	}
	if got.Half && r.job.action.Button != "right" {
		r.notice(landedByHalf)
	}
	return nil
}

func notLanded(action string, isDrop bool) error {
	switch {
	case isDrop:
		return fault.New(fault.NotLanded, "It was dragged there, but the page took no drop on that element", "Take a snapshot to see what became of it; perhaps another element takes it.")
	case action == "hover" || action == "drag":
		return fault.New(fault.NotLanded, "The pointer was sent but did not reach the element", "Something moved or lies over it: take a snapshot.")
	}
	return fault.New(fault.NotLanded, "The click was sent but did not reach the element", "Something moved or lies over it: take a snapshot.")
}

// readIdle takes a page that never fell quiet for what it is.
func readIdle(r *reading) error {
	if !r.job.action.Idle || r.job.plan.settle == absent || r.settled.Quiet {
		return nil
	}
	return fault.New(fault.Timeout, "The page never fell quiet", "Wait for a text or an address instead.")
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
	if p := r.state.Picture; p != nil && (p.Width < p.PageWidth || p.Height < p.PageHeight) {
		r.notice(fmt.Sprintf("The picture ends at %d × %d px of a page of %d × %d px, which is as much as one shows: scroll, and take pictures of what is in view.",
			p.Width, p.Height, p.PageWidth, p.PageHeight))
	}
	return nil
}

// events tells of dialogs and tabs that came up meanwhile.
func (r *reading) events() {
	for _, d := range r.ran.Dialogs[max(0, len(r.ran.Dialogs)-mostDialogs):] {
		r.result.Dialogs = append(r.result.Dialogs, cleanDialog(d))
	}
	if last := len(r.ran.Dialogs) - 1; last >= 0 && r.ran.Dialogs[last].Open {
		r.notice(oneDialog(r.ran.Dialogs[last]) + " is open and the page stands still: answer it with dialog, within " + r.options.DialogPatience.String() + ".")
	}
	if r.job.action.Action == "new_tab" {
		r.result.URL = cmp.Or(r.result.URL, blankPage)
		r.notice("Tab " + r.result.Tab + " is open and selected.")
	}
	for _, tab := range r.ran.Opened {
		r.result.Opened = append(r.result.Opened, cleanTab(tab))
		r.notice("The page opened tab " + tab.ID + "; " + r.result.Tab + " is still selected. Use select_tab to go there.")
	}
}
