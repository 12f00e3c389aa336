package relay

import "chaperone/relay/program"

// What tests reach inside: the readers of outside bytes, and the proof.

// Scanned is what a frame of a paired extension says.
type Scanned struct {
	Tabs  []program.Tab
	Kind  string
	ID    int64
	Names []string // those that others may put into JSON as they are
	Body  []byte
}

// ScanFrame splits and parses such a frame.
func ScanFrame(message []byte) (Scanned, error) {
	head, body, err := scanFrame(message)
	return Scanned{Tabs: head.Tabs, Kind: head.T, ID: head.ID, Names: []string{head.Method, head.Child, head.Target}, Body: body}, err
}

// Fed is a link without a socket, whose frames are handed to it.
type Fed struct {
	hub  *Hub
	link *link
}

// Feed seats such a link in an account's project.
func Feed(h *Hub, account, project string, tabs []program.Tab) (*Fed, error) {
	hi := hello{Install: "install-1", Project: project, Features: []string{featureCDP}}
	l := newLink(h, nil, opened{hello: hi, pairing: Pairing{Account: account, Project: project, Level: program.LevelAct}})
	return &Fed{hub: h, link: l}, h.seat(l, tabs)
}

// Take is what the read loop does with one frame.
func (f *Fed) Take(message []byte) error { return f.link.take(message) }

// Sent answers the frames that wait for the socket.
func (f *Fed) Sent() (frames [][]byte) {
	for _, p := range f.link.outbox.take() {
		frames = append(frames, p.frame)
		f.link.outbox.written(p)
	}
	return frames
}

// End ends the link as its watch does.
func (f *Fed) End() {
	f.link.shut(ending{reason: ReasonLost})
	f.hub.unseat(f.link, ReasonLost)
	f.link.letGo()
}

// ReadHello parses a first frame and answers the project and the nonce that it found fit.
func ReadHello(message []byte) (project, nonce string, err error) {
	hi, err := readHello(message)
	return hi.Project, hi.Nonce, err
}

// ReadProof parses a second frame.
func ReadProof(message []byte) (mac string, tabs []program.Tab, err error) {
	p, err := readProof(message)
	return p.MAC, p.Tabs, err
}

// Proof is one side's proof over a project and the two nonces.
func Proof(token, who, project, theirs, ours string) string {
	return meeting{project: project, theirs: theirs, ours: ours}.proof(token, side(who))
}
