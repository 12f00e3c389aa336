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

// remainder is where a text goes on: what of it was given.
type remainder struct {
	about element
	given string
}

// mostText is how many characters of a text can be read, part by part.
const mostText = 1_000_000

// textLimit is how many characters a document may say: those that were given, the next part, and enough to see whether the
// part's last line ends there.
func (j *job) textLimit() int {
	const slack = 2000
	given := 0
	if j.rest != nil {
		given = utf8.RuneCountInString(j.rest.given)
	}
	return given + defaultBudget + slack
}

func (e *Engine) readText(r *reading) error {
	if r.job.plan.text == absent {
		return nil
	}
	text, beyond, err := e.passages(r)
	if err != nil {
		return err
	}
	given := ""
	if r.job.rest != nil {
		given = r.job.rest.given
	}
	rest := r.ungiven(given, text)
	part := cutText(rest, defaultBudget)
	r.result.Text = &part
	if left := linesLeft(rest[len(part):], text, beyond); left > 0 {
		r.goesOn(e, given+part, left)
	}
	return nil
}

// ungiven is what of the text was not given yet. Where the text is another by now, its lines are told apart.
func (r *reading) ungiven(given, text string) string {
	if rest, same := strings.CutPrefix(text, given); same {
		return rest
	}
	r.notice("The page's text has changed since the cursor was given out: what is new further up stands here too.")
	lines, _ := unshown(strings.Split(given, "\n"), strings.Split(text, "\n"))
	return strings.Join(lines, "\n")
}

// linesLeft is how many lines are left about: those at hand, and as many as the characters beyond would make.
func linesLeft(rest, text string, beyond int) int {
	left := 0
	if rest != "" {
		left = strings.Count(rest, "\n") + 1
	}
	if beyond > 0 {
		left += max(1, beyond*(strings.Count(text, "\n")+1)/max(1, len(text)))
	}
	return left
}

func (r *reading) goesOn(e *Engine, given string, left int) {
	if utf8.RuneCountInString(given) > mostText {
		r.notice(fmt.Sprintf("More than %d characters of one text are not read: read elements by ref.", mostText))
		return
	}
	cursor := e.cursors.keep(rest{tab: r.result.Tab, text: &remainder{about: r.job.about, given: given}})
	r.result.More = &More{Cursor: cursor, Lines: left}
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

// passages is the text of the document, or of one element, with that of the frames in it, and about how many characters
// the documents have beyond that.
func (e *Engine) passages(r *reading) (text string, beyond int, err error) {
	p := passages{tab: r.result.Tab}
	if err := json.Unmarshal(r.ran.Steps[r.job.plan.text], &p.frames); err != nil {
		return "", 0, fault.Wrap(fmt.Errorf("decode text: %w", err), "the browser answered in another shape")
	}
	r.leftOut(p.frames)
	p.judge = e.options.judge(p.frames)
	p.docs, p.placed = make([]passage, len(p.frames)), make([]bool, len(p.frames))
	for i, frame := range p.frames {
		// One that does not read has no text.
		_ = json.Unmarshal(frame.Value, &p.docs[i])
	}
	text, err = p.from(r.job)
	if p.holds {
		r.notice(framesWithheld)
	}
	return text, p.beyond, err
}

// passages are the texts of a tab's frames.
type passages struct {
	tab    string
	frames []program.FrameResult
	docs   []passage
	placed []bool
	judge  judged
	holds  bool // something back
	beyond int  // characters that were not read, about
}

// from is the text that the job asks for.
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
	p.beyond += max(0, doc.More)
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
