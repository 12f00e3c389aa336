package relay

import "chaperone/relay/program"

// What tests reach inside: the readers of outside bytes, and the proof.

// ScanFrame splits and parses a frame of a paired extension.
func ScanFrame(message []byte) (tabs []program.Tab, body []byte, err error) {
	head, body, err := scanFrame(message)
	return head.Tabs, body, err
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
