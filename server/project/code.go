package project

// Code is what a connection code says. Token is a secret.
type Code struct {
	Server  string `json:"server"`
	Token   string `json:"token"`
	Project string `json:"project"`
	Name    string `json:"name"`
}

// ParseCode reads a connection code, strictly: one line, known prefix, base64url without padding, and
// exactly the four fields, each of which must hold.
func ParseCode(text string) (Code, error) { return Code{}, errUnbuilt }

// String writes the connection code.
func (c Code) String() string { return "" }
