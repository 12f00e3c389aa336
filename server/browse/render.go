package browse

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"chaperone/relay/program"
	"chaperone/server/fault"
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
	// Unseen are frame elements that cannot be seen.
	Unseen []int     `json:"unseen"`
	News   *pageNews `json:"news"`
}

// page is what a session is, or has been, shown of a tab.
type page struct {
	doc   string
	full  bool
	lines []string
	more  int
	holds bool // something back: a frame on a domain that is not allowed
	// unshown tells that the page was noted and not shown as a whole, and read that parts of it were.
	unshown, read bool
	news          news
}

// size is how many characters the lines have.
func (p page) size() int {
	size := 0
	for _, line := range p.lines {
		size += lengthOf(line)
	}
	return size
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
func (s shots) render(r *refs, acted string, v view) (page, error) {
	root, err := s.rootOf(v)
	if err != nil {
		return page{}, err
	}
	r.rounds++
	p := page{doc: s.docs[root].Doc, full: v.full}
	s.add(&p, writer{refs: r, acted: acted}, root, 0)
	if v.scope.node != 0 {
		return p, nil // a frame that has no place in it stands elsewhere
	}
	hidden := s.hidden()
	for i := range s.frames {
		switch {
		case s.placed[i] || hidden[s.frames[i].Frame]:
		case !v.wanted.any() && s.isBeyond(i):
			p.more += len(s.docs[i].Lines) + s.docs[i].More
			if s.admits(i) {
				p.news.all(s.docs[i], len(p.lines))
			}
		case s.admits(i):
			s.addUnplaced(&p, writer{refs: r, acted: acted}, i, v)
		case s.judge.admitted[s.frames[i].Parent]: // what is inside a frame that is not shown is not told of
			s.withhold(&p, i, 0)
		}
	}
	return p, nil
}

// rootOf is the document that the view begins in: the main one, or that of the scope's element.
func (s shots) rootOf(v view) (int, error) {
	if v.scope.node == 0 {
		return 0, nil
	}
	for i, doc := range s.docs {
		switch {
		case doc.Doc != v.scope.doc:
		case s.admits(i):
			return i, nil
		default:
			return 0, strayed("The frame is on a domain that the project does not allow")
		}
	}
	return 0, fault.New(fault.StaleRef, "The element is no longer on the page", hint(fault.StaleRef))
}

// hidden are the frames that cannot be seen, and those in them: parents come before their children.
func (s shots) hidden() map[string]bool {
	unseen := map[string]bool{}
	owners := map[string][]int{}
	for i, f := range s.frames {
		owners[f.Frame] = s.docs[i].Unseen
		unseen[f.Frame] = unseen[f.Parent] || f.Owner != 0 && slices.Contains(owners[f.Parent], f.Owner)
	}
	return unseen
}

// isBeyond reports whether the frame's element comes after what its document was cut at, or stands in such a frame.
func (s shots) isBeyond(frame int) bool {
	for i := range s.frames[:frame] {
		if s.frames[i].Frame == s.frames[frame].Parent {
			return s.frames[frame].Owner != 0 && s.docs[i].More > 0 || i > 0 && !s.placed[i] && s.isBeyond(i)
		}
	}
	return false
}

func (s shots) addUnplaced(p *page, w writer, frame int, v view) {
	if v.wanted.any() && len(s.docs[frame].Lines) == 0 {
		p.more += s.docs[frame].More
		return
	}
	p.lines = append(p.lines, "- iframe:")
	s.add(p, w, frame, 1)
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
	w.enter(s, frame)
	depth = min(depth, deepest)
	p.more += shot.More
	p.news.open(shot)
	next := 0
	for i, line := range shot.Lines {
		next = p.news.take(shot, next, i, len(p.lines))
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
	p.news.take(shot, next, math.MaxInt, len(p.lines))
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
	under []holder // the lines that the next may stand under, the outermost first
	// names counts what the document shows, to tell a renamed element from a recycled one.
	names map[element]int
}

func (w *writer) enter(s shots, frame int) {
	w.under = nil
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
	place := w.place(l)
	var b strings.Builder
	for range min(max(0, depth+l.Depth), deepest) {
		b.WriteString("  ")
	}
	b.WriteString("- ")
	b.WriteString(roleText(l.Role))
	if name := short(l.Name, longestName); name != "" {
		b.WriteString(` "` + escaped(name) + `"`)
	}
	if l.Node > 0 {
		b.WriteString(" [ref=" + w.ref(l, place) + "]")
	}
	for _, state := range l.States[:min(len(l.States), mostStates)] {
		if isState(state) {
			b.WriteString(" [" + state + "]")
		}
	}
	if address := short(l.URL, longestLink); address != "" {
		b.WriteString(" [url=" + unspaced(address) + "]")
	}
	if value := short(l.Value, longestValue); value != "" {
		b.WriteString(": " + value)
	}
	return b.String()
}

// holder is a line that others stand under.
type holder struct {
	depth int
	says  uint64
}

// place is what the line stands under, and makes the line what the next may stand under.
func (w *writer) place(l pageLine) uint64 {
	for len(w.under) > 0 && w.under[len(w.under)-1].depth >= l.Depth {
		w.under = w.under[:len(w.under)-1]
	}
	place := uint64(0)
	if len(w.under) > 0 {
		place = w.under[len(w.under)-1].says
	}
	w.under = append(w.under, holder{depth: l.Depth, says: hashed(l.Role, l.Name, l.Value)})
	return place
}

func hashed(parts ...string) uint64 {
	h := fnv.New64a()
	for _, part := range parts {
		_, _ = h.Write([]byte(part))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

func (w *writer) ref(l pageLine, place uint64) string {
	e := l.element(w.key)
	ref := w.refs.of(e, func(was element) bool {
		// The action's own element may say another thing afterwards ("Follow", "Following"), unless what it
		// said before stands elsewhere now: then the page has put its texts into other elements.
		acted := w.acted != "" && w.refs.byKey[e.key] == w.acted
		return acted && was.role == e.role && w.names[element{role: was.role, name: was.name}] == 0
	})
	w.refs.saw(ref, e, place)
	return ref
}

// escaped is a name that can stand between quotation marks.
func escaped(name string) string {
	if !strings.ContainsAny(name, `\"`) {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
}

// unspaced is an address that cannot end its brackets.
func unspaced(address string) string {
	if !strings.ContainsAny(address, " ]") {
		return address
	}
	return strings.NewReplacer(" ", "%20", "]", "%5D").Replace(address)
}

func roleText(role string) string {
	if len(role) > 0 && len(role) <= 30 && strings.Trim(role, letters) == "" {
		return role
	}
	return "generic"
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// isState reports whether a state is a word, or a word and a short value.
func isState(state string) bool {
	word, value, valued := strings.Cut(state, "=")
	if word == "" || len(word) > 30 || strings.Trim(word, letters+"-") != "" {
		return false
	}
	const beside = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ .-"
	return !valued || value != "" && len(value) <= 30 && strings.Trim(value, letters+beside) == ""
}

// lengthOf is how many characters a line costs, with its end.
func lengthOf(line string) int { return utf8.RuneCountInString(line) + 1 }

// cut answers the lines that fit the budget, and how many do not. One line at least is answered.
func cut(lines []string, budget int) ([]string, int) {
	size := 0
	for i, line := range lines {
		size += lengthOf(line)
		if size-1 > budget && i > 0 {
			return lines[:i], len(lines) - i
		}
	}
	return lines, 0
}
