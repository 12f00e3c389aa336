package artifact_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is the room over real files, with a clock that stands until it is moved.
type world struct {
	dir       string
	now       time.Time
	store     *store.Store
	artifacts *artifact.Artifacts
	me        account.Actor
	project   string
	session   string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: filepath.Join(t.TempDir(), "data"), now: time.Now()}
	s, err := store.Open(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	w.store = s
	w.artifacts, err = artifact.Open(artifact.Config{
		Store: s, Dir: w.dir, LinkKey: make([]byte, 32), PerSession: 3, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, end := range []func() error{w.artifacts.Close, s.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	})
	w.me = account.Account{ID: w.id(t, "u"), Name: "me"}.Owner()
	w.project, w.session = w.id(t, "p"), w.id(t, "s")
	if _, err := s.EnsureAccount(t.Context(), store.Account{ID: w.me.Account, Name: "me", Created: w.now}); err != nil {
		t.Fatal(err)
	}
	row := store.Project{ID: w.project, Account: w.me.Account, Name: "default", Policy: "read_only", Backend: "managed"}
	if err := s.AddProject(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) id(t *testing.T, prefix string) string {
	t.Helper()
	id, err := store.NewID(prefix, w.now)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (w *world) meta() artifact.Meta {
	return artifact.Meta{
		Account: w.me.Account, Project: w.project, Session: w.session, MIME: "image/png", Width: 1280, Height: 720, Deliver: true,
	}
}

func (w *world) save(t *testing.T, content string) artifact.Artifact {
	t.Helper()
	kept, err := w.artifacts.Save(t.Context(), w.meta(), []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Second)
	return kept
}

// ids are the session's artifacts, oldest first.
func (w *world) ids(t *testing.T) []string {
	t.Helper()
	list, err := w.artifacts.List(t.Context(), w.me, w.session)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(list))
	for i, kept := range list {
		ids[i] = kept.ID
	}
	return ids
}

// files are the paths beneath the folder of artifacts, with their modes.
func (w *world) files(t *testing.T) map[string]fs.FileMode {
	t.Helper()
	found := map[string]fs.FileMode{}
	err := fs.WalkDir(os.DirFS(filepath.Join(w.dir, "artifacts")), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		found[name] = info.Mode()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
