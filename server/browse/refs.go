package browse

import (
	"strconv"
	"strings"
)

// key is one element, wherever it lives.
type key struct {
	tab, frame, doc string // frame is empty for the main one
	node            int
}

// element is what a ref was given for.
type element struct {
	key
	role, name string
	// picked is one more than the step that finds it, where it is not known yet; its frame is a reference too then.
	picked int
}

// refs gives out refs and remembers for what. An element keeps its ref while it is what it was; a ref is
// never given to another element, and not to the same element once the page has made another thing of it.
type refs struct {
	last   int
	byKey  map[key]string
	byRef  map[string]element
	became map[string]string // a given-up ref, and the ref its element has now
	// sights are what was last shown of each ref, also of those whose elements are gone.
	sights map[string]sight
	rounds int // how often pages were rendered
	// shown are the refs that an answer's snapshot had.
	shown map[string]bool
}

// sight is an element as it was last shown.
type sight struct {
	tab, role, name string
	framed          bool
	place           uint64 // what it stood under
	born, last      int    // the rounds in which it got its ref and was last shown
}

func newRefs() *refs {
	return &refs{byKey: map[key]string{}, byRef: map[string]element{}, became: map[string]string{}, sights: map[string]sight{}, shown: map[string]bool{}}
}

// of answers the element's ref. renamed tells whether a known element may go on under its ref although its
// name is another now.
func (r *refs) of(e element, renamed func(was element) bool) string {
	ref, known := r.byKey[e.key]
	if !known {
		return r.mint(e)
	}
	was := r.byRef[ref]
	if was == e {
		return ref
	}
	if renamed(was) {
		r.byRef[ref] = e
		return ref
	}
	delete(r.byRef, ref)
	now := r.mint(e)
	r.became[ref] = now
	return now
}

func (r *refs) mint(e element) string {
	r.last++
	ref := "e" + strconv.Itoa(r.last)
	r.byKey[e.key], r.byRef[ref] = ref, e
	return ref
}

// saw notes that the ref's element is shown in this round.
func (r *refs) saw(ref string, e element, place uint64) {
	born := r.rounds
	if was, known := r.sights[ref]; known {
		born = was.born
	}
	r.sights[ref] = sight{tab: e.tab, role: e.role, name: e.name, framed: e.frame != "", place: place, born: born, last: r.rounds}
}

// successor is the one element shown in this round that is what the ref's was and stands where it stood; it must be
// younger than the last sight of that.
func (r *refs) successor(ref string) (string, bool) {
	was, known := r.sights[ref]
	found := ""
	for other, is := range r.sights {
		same := is.tab == was.tab && is.role == was.role && is.name == was.name && is.framed == was.framed && is.place == was.place
		if !known || !same || is.last != r.rounds || other == ref {
			continue
		}
		if found != "" {
			return "", false
		}
		found = other
	}
	return found, found != "" && r.sights[found].born > was.last
}

// mostSights is how many sights of elements that are gone are kept.
const mostSights = 5000

func (r *refs) forgetSights() {
	if len(r.sights) <= len(r.byRef)+mostSights {
		return
	}
	for ref := range r.sights {
		if _, alive := r.byRef[ref]; !alive {
			delete(r.sights, ref)
			delete(r.shown, ref)
			delete(r.became, ref)
		}
	}
}

// tell notes the refs that an answer shows.
func (r *refs) tell(s *Snapshot) {
	if s == nil {
		return
	}
	for line := range strings.Lines(s.Text) {
		if ref := refIn(line); ref != "" {
			r.shown[ref] = true
		}
	}
}

// isGiven reports whether the ref was ever given out.
func (r *refs) isGiven(ref string) bool {
	if len(ref) < 2 {
		return false
	}
	n, err := strconv.Atoi(ref[1:])
	return err == nil && n > 0 && n <= r.last
}

// forget drops the refs of a tab's documents that are gone.
func (r *refs) forget(tab string, alive map[string]bool) {
	for k, ref := range r.byKey {
		if k.tab == tab && !alive[k.doc] {
			delete(r.byKey, k)
			delete(r.byRef, ref)
		}
	}
	r.forgetSights()
}
