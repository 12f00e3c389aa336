package program

// phase is how far the main frame's latest navigation is.
type phase int

const (
	phaseNone      phase = iota
	phaseRequested       // the page asked for it; the browser has not begun yet, and may never
	phaseLoading         // a load began, perhaps only within the document
	phaseStarted         // the browser fetches another document
	phaseCommitted       // the other document is there and loads
)

// navigation follows the main frame from a program's start, by what the browser tells in this order: requested,
// started navigating (with the loader's id), started loading, navigated, load event, stopped loading. A download or
// an answer without a document goes from started loading to stopped loading. Zero is: none has begun.
type navigation struct {
	phase     phase
	loader    string // of the navigation under way, where known
	committed string // loader of the latest commit
	commits   int
	moves     int  // within the document
	isParsed  bool // the document that was committed last is all there, but perhaps for its pictures
}

// afterwards is what a later program finds: a document that is on its way still is, all else counts anew.
func (n navigation) afterwards() navigation {
	if n.phase != phaseStarted {
		return navigation{}
	}
	return navigation{phase: phaseStarted, loader: n.loader}
}

func (n *navigation) request() {
	if n.phase == phaseNone {
		n.phase = phaseRequested
	}
}

// start begins the navigation of a loader, once.
func (n *navigation) start(loader string) {
	if loader == "" || loader != n.committed && loader != n.loader {
		n.phase, n.loader = phaseStarted, loader
	}
}

func (n *navigation) startLoading() {
	if n.phase < phaseLoading {
		n.phase = phaseLoading
	}
}

// commit ends the fetching, unless it brings an earlier navigation's document while another is under way.
func (n *navigation) commit(loader string) {
	n.commits++
	n.committed, n.isParsed = loader, false
	if n.phase != phaseStarted || n.loader == "" || n.loader == loader {
		n.phase, n.loader = phaseCommitted, ""
	}
}

func (n *navigation) load() {
	if n.phase == phaseCommitted {
		n.phase = phaseNone
	}
}

// parse tells that the document can be read.
func (n *navigation) parse() { n.isParsed = n.phase == phaseCommitted }

// isReadable reports whether nothing but the rest of a document is on its way.
func (n *navigation) isReadable() bool { return n.phase == phaseCommitted && n.isParsed }

// isUnderWay reports whether another document is, or else whether this one is not readable or, unless that will do, all there.
func (n *navigation) isUnderWay(readable bool) bool {
	return n.phase != phaseNone && (!readable || !n.isReadable())
}

// move tells of a move within the document, which nobody waits for.
func (n *navigation) move() {
	n.moves++
	n.stay()
}

// stay tells that what began brings no document.
func (n *navigation) stay() {
	if n.phase == phaseRequested || n.phase == phaseLoading {
		n.phase = phaseNone
	}
}

func (n *navigation) stop() { n.phase, n.loader = phaseNone, "" }
