package browse

import (
	"encoding/json"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

func (e *Engine) readSnapshot(r *reading) error {
	if r.job.plan.snapshot == absent || r.job.plan.snapshot >= len(r.ran.Steps) {
		return nil
	}
	raw := r.ran.Steps[r.job.plan.snapshot]
	scoped := r.job.action.Scope != "" && r.job.action.Action == "snapshot"
	if scoped {
		raw = asFrame(raw, r.job.about.frame)
	}
	shots, err := e.options.decodeShots(r.result.Tab, raw)
	if err != nil {
		return fault.Wrap(err, "the browser answered in another shape")
	}
	r.leftOut(shots.frames)
	now := shots.render(e.refs, r.job.action.Ref)
	now.full = r.job.view.full
	if now.holds {
		r.notice(framesWithheld)
	}
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
	if v.mode == "diff" && before.doc == now.doc && before.full == now.full && r.difference(before, now) {
		return
	}
	if v.from > 0 && v.doc != now.doc {
		v.from = 0
		r.notice("The page is another one since the cursor was given out: this is its start.")
	}
	r.whole(now, v.from)
}

// difference shows what changed, unless that would be most of the page anyhow.
func (r *reading) difference(before, now page) bool {
	const short = 600 // characters: always worth saying by themselves
	lines, gone := changes(before.lines, now.lines)
	text := strings.Join(lines, "\n")
	if len(text) > short && len(lines)*10 > len(now.lines)*6 {
		return false
	}
	if len(gone) > 0 {
		r.notice("Gone: " + strings.Join(gone[:min(len(gone), 30)], ", "))
	}
	if len(lines) > 0 {
		r.result.Snapshot = &Snapshot{Text: text, Mode: "diff"}
	} else if len(gone) == 0 && r.job.action.Action != "scroll" {
		r.notice("Nothing that a snapshot shows has changed; plain text may have: read the text, or take a full snapshot.")
	}
	return true
}

func (r *reading) whole(now page, from int) {
	lines, left := now.cut(from, defaultBudget)
	text := strings.Join(lines, "\n")
	r.result.Snapshot = &Snapshot{Text: text, Mode: "full"}
	if text == "" && !now.full {
		r.notice("There is nothing to operate on the page; read its text.")
	}
	if left > 0 {
		shown := r.job.view.size + len(text)
		r.result.Snapshot.More = &More{Cursor: r.job.view.cursor(from+len(lines), shown, now.doc), Lines: left}
	}
}
