package browse

import "strconv"

// key is one element, wherever it lives.
type key struct {
	tab, frame, doc string // frame is empty for the main one
	node            int
}

// element is what a ref was given for.
type element struct {
	key
	role, name string
}

// refs gives out refs and remembers for what. An element keeps its ref while it is what it was; a ref is
// never given to another element, and not to the same element once the page has made another thing of it.
type refs struct {
	last   int
	byKey  map[key]string
	byRef  map[string]element
	became map[string]string // a given-up ref, and the ref its element has now
}

func newRefs() *refs {
	return &refs{byKey: map[key]string{}, byRef: map[string]element{}, became: map[string]string{}}
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
}
