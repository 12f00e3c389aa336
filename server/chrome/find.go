package chrome

// BinaryKind tells one browser build from another.
type BinaryKind string

// What Find can find.
const (
	HeadlessShell BinaryKind = "headless_shell"
	FullBrowser   BinaryKind = "browser"
)

// Binary is a browser on this machine.
type Binary struct {
	Path string     `json:"path"` // of the program itself, never of a wrapper script where that is known
	Kind BinaryKind `json:"kind"`
}

// Find returns the browser at path explicit, or, when that is empty, the first of the headless shell,
// Chromium, Chrome and Edge that this machine has.
func Find(explicit string) (Binary, error) { panic("soon") }
