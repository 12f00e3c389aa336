package artifact

import (
	"context"
	"errors"
	"io"
	"time"

	"chaperone/server/account"
	"chaperone/server/store"
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

// Meta says what a file is. MIME is image/png or image/jpeg; Deliver marks it for the person.
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

// Config is what New needs. LinkKey signs links. PerSession 0 means 50, Retention 0 means 30 days; Now
// may be nil.
type Config struct {
	Store      *store.Store
	Dir        string
	LinkKey    []byte
	PerSession int
	Retention  time.Duration
	Now        func() time.Time
}

// Artifacts keeps and hands out artifacts. It is safe for concurrent use.
type Artifacts struct{ config Config }

var errUnbuilt = errors.New("not here yet")

// Open opens the room; its files are beneath config.Dir, in `artifacts`. The caller closes it.
func Open(config Config) (*Artifacts, error) { return &Artifacts{config}, nil }

// Close releases the folder.
func (a *Artifacts) Close() error { return nil }

// Save keeps a file of at most 32 MiB durably; of a session's files beyond PerSession the oldest goes.
func (a *Artifacts) Save(ctx context.Context, meta Meta, content []byte) (Artifact, error) {
	return Artifact{}, errUnbuilt
}

// Read opens an artifact for an actor who may see its project. The caller closes the reader.
func (a *Artifacts) Read(ctx context.Context, actor account.Actor, id string) (Artifact, io.ReadSeekCloser, error) {
	return Artifact{}, nil, errUnbuilt
}

// ReadSigned opens an artifact for whoever holds a link that Sign made. The caller closes the reader.
func (a *Artifacts) ReadSigned(ctx context.Context, id string, link Link) (Artifact, io.ReadSeekCloser, error) {
	return Artifact{}, nil, errUnbuilt
}

// List lists a session's artifacts, oldest first.
func (a *Artifacts) List(ctx context.Context, actor account.Actor, session string) ([]Artifact, error) {
	return nil, errUnbuilt
}

// Sweep removes what is older than the retention and files that have no row, and says how many went.
func (a *Artifacts) Sweep(ctx context.Context) (int, error) { return 0, errUnbuilt }

// Link is the expiry and signature of a signed link, as they stand in its query.
type Link struct {
	Until     int64
	Signature string
}

// Sign makes a link to one artifact that holds until then.
func (a *Artifacts) Sign(id string, until time.Time) Link { return Link{} }

// CheckSignature reports, as a fault, a link that is not ours, is for another artifact, or has expired.
func (a *Artifacts) CheckSignature(id string, link Link) error { return errUnbuilt }
