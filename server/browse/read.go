package browse

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

type pageState struct {
	Doc    string `json:"doc"`
	URL    string `json:"url"`
	Title  string `json:"title"`
	Status int    `json:"status"`
}

// reading gathers an answer from a program's steps.
type reading struct {
	job    job
	ran    program.Result
	result Result
	state  pageState
}

func (e *Engine) read(ctx context.Context, j job, ran program.Result) (Result, error) {
	r := &reading{job: j, ran: ran, result: Result{Tab: ran.Tab, Dialogs: []program.Dialog{}, Notices: []string{}}}
	if j.tab != program.NewTab {
		r.result.Tab = j.tab
	}
	if err := r.whereabouts(); err != nil {
		return Result{}, err
	}
	if !e.options.allows(r.state.URL) {
		return Result{}, e.takeBack(ctx, j, r.result.Tab)
	}
	if err := e.readAll(r); err != nil {
		return Result{}, err
	}
	return r.result, nil
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

func (r *reading) whereabouts() error {
	if _, err := r.decode(r.job.plan.state, &r.state); err != nil {
		return err
	}
	r.result.URL, r.result.Title, r.result.Status = Clean(r.state.URL), Clean(r.state.Title), r.state.Status
	if r.job.plan.navigate == absent {
		return nil
	}
	var reply struct {
		LoaderID string `json:"loaderId"`
	}
	if _, err := r.decode(r.job.plan.navigate, &reply); err != nil {
		return err
	}
	if reply.LoaderID == "" {
		r.notice("Only the part after # changed: it is the same document.")
	}
	if r.state.Status >= 400 {
		r.notice(fmt.Sprintf("The server answered with status %d.", r.state.Status))
	}
	return nil
}

func (r *reading) notice(text string) { r.result.Notices = append(r.result.Notices, text) }

// readLanding takes a click for done only when a trusted event reached its element.
func readLanding(r *reading) error {
	var got struct {
		Landed bool `json:"landed"`
	}
	found, err := r.decode(r.job.plan.landed, &got)
	if err != nil || !found {
		return err
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

func (e *Engine) readSnapshot(r *reading) error {
	if r.job.plan.snapshot == absent || r.job.plan.snapshot >= len(r.ran.Steps) {
		return nil
	}
	raw := r.ran.Steps[r.job.plan.snapshot]
	scoped := r.job.action.Scope != "" && r.job.action.Action == "snapshot"
	if scoped {
		raw = asFrame(raw, r.job.about.frame)
	}
	shots, err := decodeShots(r.result.Tab, raw)
	if err != nil {
		return fault.Wrap(err, "the browser answered in another shape")
	}
	now := shots.render(e.refs, r.job.action.Ref)
	now.full = r.job.view.full
	before := e.seen[r.result.Tab]
	if !scoped {
		e.refs.forget(r.result.Tab, shots.alive())
		e.seen[r.result.Tab] = now
	}
	r.show(before, now)
	return nil
}

// asFrame makes a list of frames of one frame's answer.
func asFrame(value json.RawMessage, frame string) json.RawMessage {
	one := program.FrameResult{Frame: frame, Value: value}
	if frame != "" {
		one.Parent = "above" // any: it is not the main frame
	}
	raw, err := json.Marshal([]program.FrameResult{one})
	if err != nil {
		return nil
	}
	return raw
}

// show chooses between the whole page and what changed.
func (r *reading) show(before, now page) {
	v := r.job.view
	if v.mode == "diff" && before.doc == now.doc && before.full == now.full {
		lines, gone := changes(before.lines, now.lines)
		if len(gone) > 0 {
			r.notice("Gone: " + strings.Join(gone[:min(len(gone), 30)], ", "))
		}
		if len(lines) == 0 {
			if len(gone) == 0 {
				r.notice("Nothing that a snapshot shows has changed.")
			}
			return
		}
		if text := strings.Join(lines, "\n"); len(lines)*10 <= len(now.lines)*6 || len(text) < 600 {
			r.result.Snapshot = &Snapshot{Text: text, Mode: "diff"}
			return
		}
	}
	from := v.from
	if from > 0 && v.doc != now.doc {
		from = 0
		r.notice("The page is another one since the cursor was given out: this is its start.")
	}
	r.whole(now, from)
}

func (r *reading) whole(now page, from int) {
	lines, left := now.cut(from, defaultBudget)
	text := strings.Join(lines, "\n")
	r.result.Snapshot = &Snapshot{Text: text, Mode: "full"}
	if left > 0 {
		shown := r.job.view.size + len(text)
		r.result.Snapshot.More = &More{Cursor: r.job.view.cursor(from+len(lines), shown, now.doc), Lines: left}
	}
}

func readText(r *reading) error {
	if r.job.plan.text == absent {
		return nil
	}
	text, err := r.passages()
	if err != nil {
		return err
	}
	from := 0
	if cursor := r.job.action.Cursor; cursor != "" {
		if _, err := fmt.Sscanf(cursor, "c%d", &from); err != nil || from < 0 || from > len(text) {
			return badCursor()
		}
	}
	part := cutText(text[from:], defaultBudget)
	r.result.Text = &part
	if end := from + len(part); end < len(text) {
		r.result.More = &More{Cursor: fmt.Sprintf("c%d", end), Lines: strings.Count(text[end:], "\n") + 1}
	}
	return nil
}

// passages is the text of every frame, the main one first.
func (r *reading) passages() (string, error) {
	raw := r.ran.Steps[r.job.plan.text]
	if r.job.about.node != 0 {
		raw = asFrame(raw, r.job.about.frame)
	}
	var frames []program.FrameResult
	if err := json.Unmarshal(raw, &frames); err != nil {
		return "", fault.Wrap(fmt.Errorf("decode text: %w", err), "the browser answered in another shape")
	}
	var parts []string
	for _, frame := range frames {
		var passage struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(frame.Value, &passage) == nil && passage.Text != "" {
			parts = append(parts, cleanLines(passage.Text))
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// cutText cuts after the last line end within the budget, or, in one long line, between characters.
func cutText(text string, budget int) string {
	if len(text) <= budget {
		return text
	}
	if end := strings.LastIndexByte(text[:budget], '\n'); end > 0 {
		return text[:end+1]
	}
	return strings.ToValidUTF8(text[:budget], "")
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
	value := cleanLines(held.Value)
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
	r.notice(fmt.Sprintf("Scrolled %s by %d px; %d px above, %d px below.", Clean(s.Pane), s.Moved, s.Above, s.Below))
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
	for _, d := range r.ran.Dialogs {
		d.Message = Clean(d.Message)
		r.result.Dialogs = append(r.result.Dialogs, d)
	}
	for _, tab := range r.ran.Opened {
		r.result.Opened = append(r.result.Opened, cleanTab(tab))
		r.notice("The page opened tab " + tab.ID + "; " + r.result.Tab + " is still selected. Use select_tab to go there.")
	}
}

// salvage makes the best of a program that a step ended: where only the question whether a click landed went
// unanswered, the click was sent and is not sent again.
func (e *Engine) salvage(ctx context.Context, j job, ran program.Result, err error) (Result, error) {
	var failed *program.Error
	if errors.As(err, &failed) && j.plan.landed != absent && failed.Step >= j.plan.landed && failed.Code != string(fault.Timeout) {
		return e.lookAgain(ctx, j, ran, len(ran.Steps) > j.plan.landed)
	}
	if errors.As(err, &failed) && j.plan.locate == absent && failed.Code == string(fault.Timeout) {
		e.keepTab(j, ran)
	}
	told := e.trouble(err, j.about)
	if j.plan.locate != absent && len(ran.Steps) > j.plan.locate+1 {
		told = fault.New(told.Code, told.Message+" (the click was sent; its outcome is unknown)", "Take a snapshot. Do not click again before you know.")
	}
	return Result{}, told
}

// lookAgain asks for the page in a second program, after one that ended before it could say.
func (e *Engine) lookAgain(ctx context.Context, j job, ran program.Result, known bool) (Result, error) {
	second := newPlan(ran.Tab, j.action, j.limit)
	if second.Tab == "" {
		second.Tab = j.tab
	}
	second.settleFor(quietMS, settleMS)
	if j.action.Action == "fill" {
		second.value = second.run("@value", j.about.frame, object{"target": j.about.target()})
	}
	second.look(j.action, j.budget())
	again, err := e.send(ctx, second)
	if err != nil {
		return Result{}, e.trouble(err, j.about)
	}
	again.Dialogs = append(ran.Dialogs, again.Dialogs...)
	again.Opened = append(ran.Opened, again.Opened...)
	first := j.plan
	j.plan = second
	result, err := e.read(ctx, j, again)
	if err != nil || first.landed == absent {
		return result, err
	}
	if !known {
		result.Notices = append(result.Notices, "The click was sent; whether it landed could not be told.")
		return result, nil
	}
	landing := &reading{job: job{plan: first}, ran: ran}
	err = readLanding(landing)
	result.Landed = landing.result.Landed
	return result, err
}
