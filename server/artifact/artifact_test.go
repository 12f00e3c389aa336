package artifact_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/account"
	"chaperone/server/artifact"
	"chaperone/server/fault"
)

func TestAnArtifactComesBackAsItWasSaved(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	want := artifact.Artifact{
		ID: kept.ID, Account: w.me.Account, Project: w.project, Session: w.session, Kind: "screenshot", MIME: "image/png",
		Bytes: 7, Width: 1280, Height: 720, Deliver: true, Created: kept.Created,
	}
	got, in, err := w.artifacts.Read(t.Context(), w.me, kept.ID)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(in)
	if err := errors.Join(err, in.Close()); err != nil || string(content) != "picture" || got != want || kept != want {
		t.Errorf("read answers %q, %+v, %v, want %+v", content, got, err, want)
	}
}

func TestFilesArePrivateAndInTheirPlace(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	place := strings.Join([]string{w.me.Account, w.project, w.session, kept.ID + ".png"}, "/")
	files := w.files(t)
	if len(files) != 5 || files[place] == 0 {
		t.Errorf("the files are %v, want %s", files, place)
	}
	for name, mode := range files {
		if mode.Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, mode)
		}
	}
}

func TestAnArtifactIsForWhoMaySeeItsProject(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	bound := account.Actor{Account: w.me.Account, Kind: account.Token, TokenID: "k_1", Project: w.project, Role: account.Observe}
	_, in, err := w.artifacts.Read(t.Context(), bound, kept.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	elsewhere := bound
	elsewhere.Project = w.id(t, "p")
	for name, actor := range map[string]account.Actor{
		"another account": account.Account{ID: w.id(t, "u")}.Owner(), "a token of another project": elsewhere, "nobody": {},
	} {
		if _, _, err := w.artifacts.Read(t.Context(), actor, kept.ID); !fault.Is(err, fault.NotFound) {
			t.Errorf("read by %s answers %v", name, err)
		}
		if list, err := w.artifacts.List(t.Context(), actor, w.session); err != nil || len(list) != 0 {
			t.Errorf("list for %s answers %v, %v", name, list, err)
		}
	}
}

func TestTheOldestOfASessionGoes(t *testing.T) {
	w := newWorld(t)
	var saved [5]string
	for i := range saved {
		saved[i] = w.save(t, "picture").ID
	}
	if got := w.ids(t); !slices.Equal(got, saved[2:]) {
		t.Errorf("kept are %q, want %q", got, saved[2:])
	}
	if n := len(w.files(t)); n != 4+3 {
		t.Errorf("%d files and folders are left", n)
	}
}

func TestWhatMayNotBeSaved(t *testing.T) {
	w := newWorld(t)
	for name, spoil := range map[string]func(*artifact.Meta){
		"a path as session": func(m *artifact.Meta) { m.Session = "../../../../../../tmp/x" },
		"no account":        func(m *artifact.Meta) { m.Account = "" },
		"no project":        func(m *artifact.Meta) { m.Project = "" },
		"a page":            func(m *artifact.Meta) { m.MIME = "text/html" },
		"a drawing":         func(m *artifact.Meta) { m.MIME = "image/svg+xml" },
	} {
		meta := w.meta()
		spoil(&meta)
		if _, err := w.artifacts.Save(t.Context(), meta, []byte("x")); err == nil {
			t.Errorf("%s was saved", name)
		}
	}
	if _, err := w.artifacts.Save(t.Context(), w.meta(), make([]byte, 32<<20+1)); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a byte over 32 MiB answers %v", err)
	}
	if n := len(w.files(t)); n != 1 {
		t.Errorf("%d files and folders were made", n-1)
	}
}

func TestAFailedRowLeavesNoFile(t *testing.T) {
	w := newWorld(t)
	meta := w.meta()
	meta.Project = w.id(t, "p") // the store knows no such project
	if _, err := w.artifacts.Save(t.Context(), meta, []byte("x")); err == nil {
		t.Fatal("it was saved")
	}
	for name, mode := range w.files(t) {
		if mode.IsRegular() {
			t.Errorf("%s is left", name)
		}
	}
}

func TestSweepRemovesWhatIsOldAndWhatIsStray(t *testing.T) {
	w := newWorld(t)
	old := w.save(t, "old")
	w.now = w.now.Add(29 * 24 * time.Hour)
	young := w.save(t, "young")
	stray := filepath.Join(w.dir, "artifacts", w.me.Account, w.project, w.session, w.id(t, "a")+".png.part")
	if err := os.WriteFile(stray, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := w.artifacts.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("after 29 days sweep answers %d, %v, want only the stray file", n, err)
	}
	if got := w.ids(t); !slices.Equal(got, []string{old.ID, young.ID}) {
		t.Errorf("kept are %q", got)
	}
	w.now = w.now.Add(24 * time.Hour)
	if n, err := w.artifacts.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("after 30 days sweep answers %d, %v", n, err)
	}
	if got := w.ids(t); !slices.Equal(got, []string{young.ID}) {
		t.Errorf("kept are %q", got)
	}
	if _, _, err := w.artifacts.Read(t.Context(), w.me, old.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("read of the old one answers %v", err)
	}
}

func TestSweepLeavesASaveUnderWay(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	part := filepath.Join(w.dir, "artifacts", w.me.Account, w.project, w.session, w.id(t, "a")+".png.part")
	if err := os.WriteFile(part, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := w.artifacts.Sweep(t.Context()); n != 0 || err != nil {
		t.Errorf("sweep answers %d, %v", n, err)
	}
	if _, err := os.Stat(part); err != nil || !slices.Equal(w.ids(t), []string{kept.ID}) {
		t.Errorf("the part is gone: %v", err)
	}
}

func TestAFileThatIsGoneAnswersNotFound(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	path := filepath.Join(w.dir, "artifacts", w.me.Account, w.project, w.session, kept.ID+".png")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.artifacts.Read(t.Context(), w.me, kept.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("read answers %v", err)
	}
}

func TestALinkInPlaceOfAFileLeadsNowhere(t *testing.T) {
	w := newWorld(t)
	kept := w.save(t, "picture")
	path := filepath.Join(w.dir, "artifacts", w.me.Account, w.project, w.session, kept.ID+".png")
	if err := errors.Join(os.Remove(path), os.Symlink(filepath.Join(w.dir, "chaperone.db"), path)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.artifacts.Read(t.Context(), w.me, kept.ID); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read answers %v", err)
	}
}
