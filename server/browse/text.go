package browse

import (
	"encoding/json"
	"fmt"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

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
	r.leftOut(frames)
	judged := r.options.judge(frames)
	var parts []string
	for _, frame := range frames {
		if !judged.admitted[frame.Frame] {
			r.notice(framesWithheld)
			continue
		}
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
