package browse

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"chaperone/relay/program"
)

// defaultBudget is how many characters a snapshot or a text has before it is cut, at a line.
const defaultBudget = 12_000

// deepest is where indentation ends: an edge that has been taken over must not make lines of any length.
const deepest = 60

// pageLine and pageShot are the page script's Line and Snapshot (extension/src/page/contract.ts).
type pageLine struct {
	Depth  int      `json:"depth"`
	Role   string   `json:"role"`
	Name   string   `json:"name"`
	Node   int      `json:"node"`
	States []string `json:"states"`
	Value  string   `json:"value"`
	URL    string   `json:"url"`
	Frame  bool     `json:"frame"`
}

// element is what the line stands for, in the document that k names.
func (l pageLine) element(k key) element {
	k.node = l.Node
	return element{key: k, role: program.Clip(l.Role, longestName), name: program.Clip(l.Name, longestName)}
}

type pageShot struct {
	whereabouts
	Doc   string     `json:"doc"`
	Lines []pageLine `json:"lines"`
	More  int        `json:"more"`
}

// page is what a session has been shown of a tab.
type page struct {
	doc   string
	full  bool
	lines []string
	more  int
	holds bool // something back: a frame on a domain that is not allowed
}

// shots are one document each, of a tab's frames.
type shots struct {
	tab    string
	frames []program.FrameResult
	docs   []pageShot
	placed []bool
	// judge is the verdict on each frame; strict holds where there are verdicts to be had.
	judge  judged
	strict bool
}

func (o Options) decodeShots(tab string, raw json.RawMessage) (shots, error) {
	s := shots{tab: tab, strict: len(o.AllowDomains) > 0}
	if err := json.Unmarshal(raw, &s.frames); err != nil {
		return s, fmt.Errorf("decode snapshot: %w", err)
	}
	s.docs = make([]pageShot, len(s.frames))
	s.placed = make([]bool, len(s.frames))
	for i, frame := range s.frames {
		if err := json.Unmarshal(frame.Value, &s.docs[i]); err != nil {
			return s, fmt.Errorf("decode snapshot of a frame: %w", err)
		}
	}
	if len(s.frames) == 0 {
		return s, fmt.Errorf("decode snapshot: %w", errNoFrame)
	}
	s.judge = o.judge(s.frames)
	return s, nil
}

// render makes the page of all frames, each below its element, minting refs as it goes. acted is the ref
// that the action used, whose element may have changed its name by that.
func (s shots) render(r *refs, acted string) page {
	p := page{doc: s.docs[0].Doc}
	s.add(&p, writer{refs: r, acted: acted}, 0, 0)
	for i := range s.frames {
		switch {
		case s.placed[i]:
		case s.admits(i):
			p.lines = append(p.lines, "- iframe:")
			s.add(&p, writer{refs: r, acted: acted}, i, 1)
		case s.judge.admitted[s.frames[i].Parent]: // what is inside a frame that is not shown is not told of
			s.withhold(&p, i, 0)
		}
	}
	return p
}

func (s shots) admits(frame int) bool { return s.judge.admitted[s.frames[frame].Frame] }

// withhold puts one line in place of a frame; 0 is one that did not answer.
func (s shots) withhold(p *page, frame, depth int) {
	var at whereabouts
	if frame > 0 {
		s.placed[frame], p.holds = true, true
		at = s.docs[frame].whereabouts
	}
	p.lines = append(p.lines, strings.Repeat("  ", min(depth, deepest))+"- iframe: "+withheld(at))
}

func (s shots) add(p *page, w writer, frame, depth int) {
	s.placed[frame] = true
	shot := s.docs[frame]
	w.place(s, frame)
	depth = min(depth, deepest)
	p.more += shot.More
	for _, line := range shot.Lines {
		child := 0
		if line.Frame {
			child = s.child(frame, line.Node)
		}
		if line.Frame && s.strict && (child == 0 || !s.admits(child)) {
			s.withhold(p, child, depth+max(0, line.Depth))
			continue
		}
		p.lines = append(p.lines, w.line(line, depth))
		if child > 0 {
			s.add(p, w, child, depth+min(line.Depth, deepest)+1)
		}
	}
}

// child is the index of the document that belongs into a frame's element; 0 for none.
func (s shots) child(frame, node int) int {
	for i, f := range s.frames {
		if i > 0 && !s.placed[i] && f.Owner == node && f.Parent == s.frames[frame].Frame {
			return i
		}
	}
	return 0
}

func (s shots) alive() map[string]bool {
	alive := map[string]bool{}
	for _, doc := range s.docs {
		alive[doc.Doc] = true
	}
	return alive
}

// writer writes lines of one document.
type writer struct {
	refs  *refs
	acted string
	key   key
	// names counts what the document shows, to tell a renamed element from a recycled one.
	names map[element]int
}

func (w *writer) place(s shots, frame int) {
	w.key = key{tab: s.tab, doc: s.docs[frame].Doc}
	if s.frames[frame].Parent != "" {
		w.key.frame = s.frames[frame].Frame
	}
	w.names = map[element]int{}
	for _, line := range s.docs[frame].Lines {
		is := line.element(w.key)
		w.names[element{role: is.role, name: is.name}]++
	}
}

func (w *writer) line(l pageLine, depth int) string {
	var b strings.Builder
	b.WriteString(strings.Repeat("  ", min(max(0, depth+l.Depth), deepest)) + "- " + roleText(l.Role))
	if name := short(l.Name, longestName); name != "" {
		b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`)
	}
	if l.Node > 0 {
		b.WriteString(" [ref=" + w.ref(l) + "]")
	}
	for _, state := range l.States[:min(len(l.States), mostStates)] {
		if stateText().MatchString(state) {
			b.WriteString(" [" + state + "]")
		}
	}
	if address := short(l.URL, longestLink); address != "" {
		b.WriteString(" [url=" + strings.NewReplacer(" ", "%20", "]", "%5D").Replace(address) + "]")
	}
	if value := short(l.Value, longestValue); value != "" {
		b.WriteString(": " + value)
	}
	return b.String()
}

func (w *writer) ref(l pageLine) string {
	e := l.element(w.key)
	return w.refs.of(e, func(was element) bool {
		// The action's own element may say another thing afterwards ("Follow", "Following"), unless what it
		// said before stands elsewhere now: then the page has put its texts into other elements.
		acted := w.acted != "" && w.refs.byKey[e.key] == w.acted
		return acted && was.role == e.role && w.names[element{role: was.role, name: was.name}] == 0
	})
}

func roleText(role string) string {
	if regexp.MustCompile(`^[a-z]{1,30}$`).MatchString(role) {
		return role
	}
	return "generic"
}

func stateText() *regexp.Regexp { return regexp.MustCompile(`^[a-z-]{1,30}(=[\w .-]{1,30})?$`) }

// cut answers the lines that fit the budget from line `from`, and how many are left.
func (p page) cut(from, budget int) ([]string, int) {
	from = min(from, len(p.lines))
	size := 0
	for i, line := range p.lines[from:] {
		size += len(line) + 1
		if size > budget && i > 0 {
			return p.lines[from : from+i], len(p.lines) - from - i + p.more
		}
	}
	return p.lines[from:], p.more
}
