package artifact

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"chaperone/server/fault"
	"chaperone/server/store"
)

// Opaque is the type of whatever a page brought: nobody shows it, it is only handed out.
const Opaque = "application/octet-stream"

const (
	folder          = "artifacts"
	usualPerSession = 50
	usualRetention  = 30 * 24 * time.Hour
	// mostBytes is above any screenshot that Chrome can send in one message.
	mostBytes = 32 << 20
)

// Artifact is one kept file.
type Artifact struct {
	ID      string    `json:"id"`
	Account string    `json:"-"`
	Project string    `json:"project"`
	Session string    `json:"session"`
	Kind    string    `json:"kind"`
	MIME    string    `json:"mime"`
	Bytes   int64     `json:"bytes"`
	Width   int       `json:"width,omitempty"`
	Height  int       `json:"height,omitempty"`
	Deliver bool      `json:"deliver"`
	Created time.Time `json:"created"`
}

// Meta says what a file is. MIME is image/png, image/jpeg or Opaque; an empty Kind means screenshot; Deliver marks
// it for the person.
type Meta struct {
	Account string
	Project string
	Session string
	Kind    string
	MIME    string
	Width   int
	Height  int
	Deliver bool
}

// Config is what Open needs. LinkKey (at least 32 bytes) signs links. PerSession 0 means 50, Retention 0
// means 30 days; Now may be nil.
type Config struct {
	Store      *store.Store
	Dir        string
	LinkKey    []byte
	PerSession int
	Retention  time.Duration
	Now        func() time.Time
}

// Artifacts keeps and hands out artifacts. It is safe for concurrent use.
type Artifacts struct {
	config Config
	root   *os.Root
}

// Open opens the room; its files are beneath config.Dir, in `artifacts` (0700). The caller closes it.
func Open(config Config) (*Artifacts, error) {
	if len(config.LinkKey) < 32 {
		return nil, errors.New("open artifacts: the link key is shorter than 32 bytes")
	}
	if config.PerSession <= 0 {
		config.PerSession = usualPerSession
	}
	if config.Retention <= 0 {
		config.Retention = usualRetention
	}
	config.Now = inMilliseconds(config.Now)
	dir := filepath.Join(config.Dir, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open artifacts: %w", err)
	}
	if err := store.CheckPrivate(dir); err != nil {
		return nil, fmt.Errorf("open artifacts: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open artifacts: %w", err)
	}
	return &Artifacts{config: config, root: root}, nil
}

// Close releases the folder.
func (a *Artifacts) Close() error { return a.root.Close() }

func (m Meta) check() error {
	switch {
	case !store.IsID("u", m.Account), !store.IsID("p", m.Project), !store.IsID("s", m.Session):
		return errors.New("an artifact needs the ids of its account, project and session")
	case extension(m.MIME) == "":
		return errors.New("an artifact is image/png, image/jpeg or application/octet-stream")
	}
	return nil
}

func extension(mime string) string {
	switch mime {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case Opaque:
		return ".bin"
	}
	return ""
}

// file is where an artifact is, beneath the root.
func file(row store.Artifact) string {
	return path.Join(row.Account, row.Project, row.Session, row.ID+extension(row.MIME))
}

func fromRow(row store.Artifact) Artifact { return Artifact(row) }

func notFound() error {
	return fault.New(fault.NotFound, "no such artifact", "It may have been removed after its retention.")
}

// inMilliseconds is a clock as exact as a row's times are, so that what was just made equals what is read
// back; nil means the system's.
func inMilliseconds(clock func() time.Time) func() time.Time {
	if clock == nil {
		clock = time.Now
	}
	return func() time.Time { return clock().UTC().Truncate(time.Millisecond) }
}
