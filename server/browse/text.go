package browse

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// passage is the page script's Text.
type passage struct {
	whereabouts
	Doc    string `json:"doc"`
	Text   string `json:"text"`
	More   int    `json:"more"`
	Frames []struct {
		Node int `json:"node"`
		At   int `json:"at"`
	} `json:"frames"`
}

// remainder is what of a text is still to be read. It is kept as it was: what an agent reads part by part is one text,
// whatever the page does meanwhile.
type remainder struct {
	about element
	whole uint64 // what the whole text was, to tell whether the page's is another by now
	text  string
}

func (e *Engine) readText(r *reading) error {
	if r.job.plan.text == absent {
		return nil
	}
	text, err := e.passages(r)
	if err != nil {
		return err
	}
	left := remainder{about: r.job.about, whole: hashed(text), text: text}
	if kept := r.job.rest; kept != nil {
		if kept.whole != left.whole {
			r.notice("The page's text has changed since; this goes on in the text as it was.")
		}
		left = *kept
	}
	part := cutText(left.text, defaultBudget)
	r.result.Text = &part
	if left.text = left.text[len(part):]; left.text != "" {
		cursor := e.cursors.keep(rest{tab: r.result.Tab, text: &left})
		r.result.More = &More{Cursor: cursor, Lines: strings.Count(left.text, "\n") + 1}
	}
	return nil
}

// goOn makes the action go on where an earlier text was cut.
func (e *Engine) goOn(j *job) error {
	if j.action.Action != "get_text" || j.action.Cursor == "" {
		return nil
	}
	kept, err := e.cursors.take(j.action.Cursor, j.tab)
	if err != nil {
		return err
	}
	if kept.text == nil {
		return fault.New(fault.BadRequest, "The cursor is one of a snapshot", "Use it with snapshot.")
	}
	j.rest, j.about = kept.text, kept.text.about
	return nil
}

// passages is the text of the document, or of one element, with that of the frames in it.
func (e *Engine) passages(r *reading) (string, error) {
	p := passages{tab: r.result.Tab}
	if err := json.Unmarshal(r.ran.Steps[r.job.plan.text], &p.frames); err != nil {
		return "", fault.Wrap(fmt.Errorf("decode text: %w", err), "the browser answered in another shape")
	}
	r.leftOut(p.frames)
	p.judge = e.options.judge(p.frames)
	p.docs, p.placed = make([]passage, len(p.frames)), make([]bool, len(p.frames))
	for i, frame := range p.frames {
		// One that does not read has no text.
		_ = json.Unmarshal(frame.Value, &p.docs[i])
	}
	text, err := p.from(r.job)
	if p.holds {
		r.notice(framesWithheld)
	}
	if p.cut {
		r.notice(fmt.Sprintf("The text is longer than %d characters: the rest is left out. Read elements by ref.", textLimit))
	}
	return text, err
}

// passages are the texts of a tab's frames.
type passages struct {
	tab    string
	frames []program.FrameResult
	docs   []passage
	placed []bool
	judge  judged
	holds  bool // something back
	cut    bool
}

// from is the text that the job asks for. Going on in an earlier text it may be anything.
func (p *passages) from(j job) (string, error) {
	if len(p.frames) == 0 {
		return "", nil
	}
	if j.about.node == 0 {
		return cleanLines(strings.Join(append(p.lines(0), p.unplaced()...), "\n")), nil
	}
	for i, doc := range p.docs {
		if doc.Doc == j.about.doc {
			return cleanLines(strings.Join(p.lines(i), "\n")), nil
		}
	}
	if j.rest != nil {
		return "", nil
	}
	return "", fault.New(fault.StaleRef, "The element is no longer on the page", hint(fault.StaleRef))
}

// lines are a document's lines with those of its frames where they stand.
func (p *passages) lines(i int) []string {
	p.placed[i] = true
	if !p.judge.admitted[p.frames[i].Frame] {
		p.holds = true
		return nil
	}
	doc := p.docs[i]
	p.cut = p.cut || doc.More > 0
	var own []string
	if doc.Text != "" {
		own = strings.Split(doc.Text, "\n")
	}
	var all []string
	done := 0
	for _, frame := range doc.Frames {
		if child := p.child(i, frame.Node); child > 0 {
			at := min(max(done, frame.At), len(own))
			all = append(append(all, own[done:at]...), p.lines(child)...)
			done = at
		}
	}
	return append(all, own[done:]...)
}

func (p *passages) child(parent, node int) int {
	for i, f := range p.frames {
		if i > 0 && !p.placed[i] && f.Owner == node && f.Parent == p.frames[parent].Frame {
			return i
		}
	}
	return 0
}

// unplaced are the lines of frames whose elements could not be told. One whose element is known, and stands in no text, is
// not to be seen.
func (p *passages) unplaced() []string {
	var lines []string
	for i, f := range p.frames {
		if !p.placed[i] && f.Owner == 0 {
			lines = append(lines, p.lines(i)...)
		}
	}
	return lines
}

// cutText cuts after the last line end within the budget, or, in one long line, at a space, or between characters.
func cutText(text string, budget int) string {
	if len(text) <= budget || utf8.RuneCountInString(text) <= budget {
		return text
	}
	end, count := 0, 0
	for end = range text {
		if count == budget {
			break
		}
		count++
	}
	for _, at := range []string{"\n", " "} {
		if last := strings.LastIndex(text[:end], at); last > 0 {
			return text[:last+1]
		}
	}
	return text[:end]
}
