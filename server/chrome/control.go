package chrome

import "encoding/json"

// The server and a confine process exchange one JSON object a line: orders on its standard input, reports
// on its standard output.

// order is what the server asks for. Exactly one field besides ID is set.
type order struct {
	ID int `json:"id"`
	// Start comes once. A profile's forwarder is there before it.
	Start *startOrder `json:"start,omitempty"`
	// Forward asks for a loopback port whose connections go to this Unix socket.
	Forward string `json:"forward,omitempty"`
	// Close ends the forwarder of this port and its connections.
	Close int `json:"close,omitempty"`
}

// startOrder says which Chrome to start; it gets file descriptors 3 and 4 of the confine process.
type startOrder struct {
	Path string   `json:"path"`
	Args []string `json:"args"`
	Env  []string `json:"env"`
	Dir  string   `json:"dir"`
}

// report answers the order of the same ID, or, with ID 0, tells that Chrome has ended.
type report struct {
	ID    int    `json:"id"`
	Port  int    `json:"port,omitempty"`
	Error string `json:"error,omitempty"`
	Ended string `json:"ended,omitempty"`
}

// decodeOrder parses one line.
func decodeOrder(line []byte) (order, error) {
	var o order
	err := json.Unmarshal(line, &o)
	return o, err
}
