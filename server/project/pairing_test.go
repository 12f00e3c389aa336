package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/store"
)

const here = "http://127.0.0.1:7788"

func (w *world) code(t *testing.T, of project.Project) project.Code {
	t.Helper()
	text, err := w.projects.Code(t.Context(), w.me, of.ID, here)
	if err != nil {
		t.Fatal(err)
	}
	code, err := project.ParseCode(text)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// mustPair checks that a hello with this code finds its project.
func (w *world) mustPair(t *testing.T, code project.Code) {
	t.Helper()
	found, err := w.projects.Find(t.Context(), project.TokenID(code.Token), code.Project)
	if err != nil || found.Token != code.Token || found.Project != code.Project {
		t.Errorf("find answers project %q, %v", found.Project, err)
	}
}

// mustNotPair checks that it does not.
func (w *world) mustNotPair(t *testing.T, code project.Code) {
	t.Helper()
	found, err := w.projects.Find(t.Context(), project.TokenID(code.Token), code.Project)
	if !fault.Is(err, fault.NotFound) || found.Project != "" {
		t.Errorf("find answers project %q, %v, want not_found", found.Project, err)
	}
}

func TestTheTokenIDIsTheContracts(t *testing.T) {
	if got, want := project.TokenID("AAAA"), "5f4f79bf62a4f631"; got != want {
		t.Errorf("the id is %s, want %s", got, want)
	}
}

func TestACodeNamesServerTokenAndProject(t *testing.T) {
	w := newWorld(t)
	mine := w.create(t, w.me, "mine")
	code := w.code(t, mine)
	if want := (project.Code{Server: here, Token: code.Token, Project: mine.ID, Name: "mine"}); code != want {
		t.Errorf("the code is %+v, want %+v", code, want)
	}
	found, err := w.projects.Find(t.Context(), project.TokenID(code.Token), mine.ID)
	want := project.Pairing{
		Account: w.me.Account, AccountName: "me", Project: mine.ID, ProjectName: "mine", Token: code.Token, Policy: project.ReadOnly,
	}
	if err != nil || found != want {
		t.Errorf("find answers %+v, %v, want %+v", found, err, want)
	}
	if paired, err := w.projects.IsPaired(t.Context(), w.me, mine.ID); err != nil || !paired {
		t.Errorf("paired: %v, %v", paired, err)
	}
}

func TestCopyingACodeAgainRotatesNothing(t *testing.T) {
	w := newWorld(t)
	mine, second := w.create(t, w.me, "mine"), w.create(t, w.me, "second")
	first := w.code(t, mine)
	if again := w.code(t, mine); again != first {
		t.Error("a second copy is another code")
	}
	if other := w.code(t, second); other.Token != first.Token {
		t.Error("a second project has another token")
	}
	w.mustPair(t, first)
}

func TestAProjectThatWasNeverCopiedIsNotPaired(t *testing.T) {
	w := newWorld(t)
	mine, second := w.create(t, w.me, "mine"), w.create(t, w.me, "second")
	code := w.code(t, mine)
	code.Project = second.ID
	w.mustNotPair(t, code)
	if err := w.projects.Connect(t.Context(), w.me, second.ID); err != nil {
		t.Fatal(err)
	}
	w.mustPair(t, code)
}

func TestRevokeForgetsOneProjectUntilTheCodeIsCopied(t *testing.T) {
	w := newWorld(t)
	mine, second := w.code(t, w.create(t, w.me, "mine")), w.code(t, w.create(t, w.me, "second"))
	for range 2 {
		if err := w.projects.Revoke(t.Context(), w.me, "mine"); err != nil {
			t.Fatal(err)
		}
	}
	w.mustNotPair(t, mine)
	w.mustPair(t, second)
	known, err := w.projects.Find(t.Context(), project.TokenID(mine.Token), mine.Project)
	if !fault.Is(err, fault.NotFound) || known.Token != mine.Token || known.Project != "" {
		t.Errorf("a known token is told as %q, %v", known.Project, err)
	}
	if _, err := w.projects.Code(t.Context(), w.me, "mine", here); err != nil {
		t.Fatal(err)
	}
	w.mustPair(t, mine)
	want := []string{
		"project.create done", "pairing.code done", "project.create done", "pairing.code done",
		"pairing.revoke done", "pairing.revoke done", "pairing.code done",
	}
	if got := w.methods(t); !slices.Equal(got, want) {
		t.Errorf("the ledger says %q, want %q", got, want)
	}
}

func TestResetEndsTheOldTokenEverywhere(t *testing.T) {
	w := newWorld(t)
	mine := w.create(t, w.me, "mine")
	before := w.code(t, mine)
	found, err := w.projects.Find(t.Context(), project.TokenID(before.Token), mine.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.projects.Reset(t.Context(), w.me); err != nil {
		t.Fatal(err)
	}
	w.mustNotPair(t, before)
	if _, err := w.projects.Check(t.Context(), found); !fault.Is(err, fault.NotFound) {
		t.Errorf("a heartbeat answers %v", err)
	}
	after := w.code(t, mine)
	if after.Token == before.Token {
		t.Error("the token is the same")
	}
	w.mustNotPair(t, before)
	w.mustPair(t, after)
}

func TestAHeartbeatSeesWhatChanged(t *testing.T) {
	w := newWorld(t)
	mine := w.create(t, w.me, "mine")
	code := w.code(t, mine)
	found, err := w.projects.Find(t.Context(), project.TokenID(code.Token), mine.ID)
	if err != nil {
		t.Fatal(err)
	}
	policy := project.Interactive
	if _, err := w.projects.Update(t.Context(), w.me, mine.ID, project.Change{Policy: &policy}); err != nil {
		t.Fatal(err)
	}
	if now, err := w.projects.Check(t.Context(), found); err != nil || now.Policy != project.Interactive {
		t.Errorf("after a change of policy: %v, %v", now.Policy, err)
	}
	if err := w.store.DisableAccount(t.Context(), w.me.Account, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.projects.Check(t.Context(), found); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a disabled account: %v", err)
	}
	if err := w.store.DisableAccount(t.Context(), w.me.Account, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if err := w.projects.Delete(t.Context(), w.me, mine.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.projects.Check(t.Context(), found); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a deleted project: %v", err)
	}
}

func TestATokenDoesNotReachAnotherAccountsProject(t *testing.T) {
	w := newWorld(t)
	mine := w.code(t, w.create(t, w.me, "mine"))
	theirs := w.create(t, w.other, "theirs")
	if _, err := w.projects.Code(t.Context(), w.other, theirs.ID, here); err != nil {
		t.Fatal(err)
	}
	mine.Project = theirs.ID
	w.mustNotPair(t, mine)
}

func TestThePairingTokenIsSealedAtRest(t *testing.T) {
	w := newWorld(t)
	code := w.code(t, w.create(t, w.me, "mine"))
	for _, name := range []string{store.FileName, store.FileName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil || strings.Contains(string(content), code.Token) {
			t.Errorf("%s holds the token, or %v", name, err)
		}
	}
}

func TestACodeIsMadeForAnOriginAlone(t *testing.T) {
	w := newWorld(t)
	mine := w.create(t, w.me, "mine")
	for name, server := range map[string]string{
		"plain http elsewhere": "http://chaperone.example", "a path": "https://chaperone.example/x",
		"a user": "https://me@chaperone.example", "a query": "https://chaperone.example?x", "no host": "https://",
		"another scheme": "ws://127.0.0.1:7788", "nothing": "", "a port alone": "127.0.0.1:7788",
	} {
		if code, err := w.projects.Code(t.Context(), w.me, mine.ID, server); err == nil || code != "" {
			t.Errorf("%s (%q) answers a code", name, server)
		}
	}
	if paired, err := w.projects.IsPaired(t.Context(), w.me, mine.ID); err != nil || paired {
		t.Errorf("paired: %v, %v", paired, err)
	}
}
