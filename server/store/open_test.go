package store_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"chaperone/server/store"
)

func TestOpenMakesPrivateFiles(t *testing.T) {
	dir := privateDir(t)
	s := open(t, dir)
	addTenant(t, s, "me")
	for name, want := range map[string]os.FileMode{
		"": 0o700, store.FileName: 0o600, store.FileName + "-wal": 0o600, store.FileName + "-shm": 0o600,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("mode of %q is %04o, want %04o", name, got, want)
		}
	}
}

func TestOpenRefusesWhatOthersMayRead(t *testing.T) {
	tests := map[string]struct {
		spoil func(dir string) error
		says  string
	}{
		"a folder that the group may list": {
			func(dir string) error { return os.Chmod(dir, 0o750) }, "run `chmod 0700 ",
		},
		"a folder that others may enter": {
			func(dir string) error { return os.Chmod(dir, 0o701) }, "run `chmod 0700 ",
		},
		"a database that others may read": {
			func(dir string) error { return os.Chmod(filepath.Join(dir, store.FileName), 0o604) }, "run `chmod 0600 ",
		},
		"a write-ahead log that the group may write": {
			func(dir string) error {
				path := filepath.Join(dir, store.FileName+"-wal")
				return errors.Join(os.WriteFile(path, nil, 0o600), os.Chmod(path, 0o620))
			}, "run `chmod 0600 ",
		},
		"a database that is a link to elsewhere": {
			func(dir string) error {
				path := filepath.Join(dir, store.FileName)
				return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
			}, "neither a plain file nor a folder",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := privateDir(t)
			first, err := store.Open(t.Context(), dir)
			if err := errors.Join(err, first.Close(), test.spoil(dir)); err != nil {
				t.Fatal(err)
			}
			_, err = store.Open(t.Context(), dir)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Open answers %v, want words with %q", err, test.says)
			}
		})
	}
}

func TestOpenAgainKeepsWhatWasWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "an odd ?name=%41#here")
	first, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	who := addTenant(t, first, "me")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, store.FileName)); err != nil {
		t.Fatal("the database is elsewhere: ", err)
	}
	if _, err := open(t, dir).GetProject(t.Context(), who.account, who.project); err != nil {
		t.Error(err)
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	dir := privateDir(t)
	first, err := store.Open(t.Context(), dir)
	if err := errors.Join(err, first.Close()); err != nil {
		t.Fatal(err)
	}
	tamper(t, dir, `INSERT INTO migrations (version, applied_ms) VALUES (9999, 1)`)
	if _, err := store.Open(t.Context(), dir); !errors.Is(err, store.ErrNewerSchema) {
		t.Errorf("Open answers %v, want that the schema is newer", err)
	}
}

func TestConnectionsHaveTheirPragmas(t *testing.T) {
	s := open(t, privateDir(t))
	for name, want := range map[string][2]string{
		"journal_mode":  {"wal", "wal"},
		"synchronous":   {"2", "1"},
		"foreign_keys":  {"1", "1"},
		"busy_timeout":  {"5000", "5000"},
		"query_only":    {"0", "1"},
		"secure_delete": {"1", "1"},
	} {
		writer, reader, err := s.Pragmas(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{writer, reader}; got != want {
			t.Errorf("%s is %q (writer, reader), want %q", name, got, want)
		}
	}
	if err := s.WriteByReader(t.Context()); err == nil {
		t.Error("a reader wrote")
	}
}

// tamper opens the file behind the store's back.
func tamper(t *testing.T, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
