package project_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"chaperone/server/account"
	"chaperone/server/fault"
	"chaperone/server/project"
	"chaperone/server/store"
)

func TestTheDefaultProjectIsMadeOnce(t *testing.T) {
	w := newWorld(t)
	first, err := w.projects.EnsureDefault(t.Context(), w.me)
	if err != nil || first.Name != "default" || first.Policy != project.ReadOnly || first.Backend != project.Managed ||
		len(first.AllowDomains) != 0 || first.Account != w.me.Account {
		t.Fatalf("the default is %+v, %v", first, err)
	}
	second, err := w.projects.EnsureDefault(t.Context(), w.me)
	if err != nil || second.ID != first.ID {
		t.Errorf("a second time it is %+v, %v", second, err)
	}
	if got := w.methods(t); !slices.Equal(got, []string{"project.create done"}) {
		t.Errorf("the ledger says %q", got)
	}
}

func TestAProjectIsFoundByIDAndByName(t *testing.T) {
	w := newWorld(t)
	made := w.create(t, w.me, "Customer research")
	for _, key := range []string{made.ID, made.Name} {
		got, err := w.projects.Get(t.Context(), w.me, key)
		if err != nil || !reflect.DeepEqual(got, made) {
			t.Errorf("by %q it is %+v, %v, want %+v", key, got, err, made)
		}
	}
}

func TestWhatIsNotYoursAnswersAsWhatDoesNotExist(t *testing.T) {
	w := newWorld(t)
	mine, second := w.create(t, w.me, "mine"), w.create(t, w.me, "second")
	archived := w.create(t, w.me, "archived")
	if err := w.projects.Delete(t.Context(), w.me, archived.ID); err != nil {
		t.Fatal(err)
	}
	_, absent := w.projects.Get(t.Context(), w.me, "p_01KB9ZZZZZZZZZZZZZZZZZZZZZ")
	if !fault.Is(absent, fault.NotFound) {
		t.Fatalf("what does not exist answers %v", absent)
	}
	for name, try := range map[string]struct {
		actor account.Actor
		key   string
	}{
		"another account's, by id":         {w.other, mine.ID},
		"another account's, by name":       {w.other, mine.Name},
		"another project than the token's": {w.agent(second.ID), mine.ID},
		"the same, by name":                {w.agent(second.ID), mine.Name},
		"an archived one":                  {w.me, archived.ID},
		"an archived one's name":           {w.me, archived.Name},
		"a name that is none":              {w.me, "none"},
		"nothing":                          {w.me, ""},
		"for nobody":                       {account.Actor{}, mine.ID},
	} {
		t.Run(name, func(t *testing.T) {
			_, getErr := w.projects.Get(t.Context(), try.actor, try.key)
			_, updateErr := w.projects.Update(t.Context(), try.actor, try.key, project.Change{})
			_, codeErr := w.projects.Code(t.Context(), try.actor, try.key, "https://chaperone.example")
			_, pairedErr := w.projects.IsPaired(t.Context(), try.actor, try.key)
			for _, err := range []error{
				getErr, updateErr, codeErr, pairedErr,
				w.projects.Delete(t.Context(), try.actor, try.key),
				w.projects.Connect(t.Context(), try.actor, try.key),
				w.projects.Revoke(t.Context(), try.actor, try.key),
			} {
				if *fault.Of(err) != *fault.Of(absent) {
					t.Errorf("the answer is %v, want %v", err, absent)
				}
			}
		})
	}
}

func TestAnAgentTokenSeesItsProjectAndChangesNothing(t *testing.T) {
	w := newWorld(t)
	mine := w.create(t, w.me, "mine")
	w.create(t, w.me, "second")
	agent := w.agent(mine.ID)
	if list, err := w.projects.List(t.Context(), agent); err != nil || len(list) != 1 || list[0].ID != mine.ID {
		t.Errorf("the list is %+v, %v", list, err)
	}
	_, createErr := w.projects.Create(t.Context(), agent, project.Spec{Name: "third"})
	interactive := project.Interactive
	_, updateErr := w.projects.Update(t.Context(), agent, mine.ID, project.Change{Policy: &interactive})
	code, codeErr := w.projects.Code(t.Context(), agent, mine.ID, "https://chaperone.example")
	for _, err := range []error{
		createErr, updateErr, codeErr,
		w.projects.Delete(t.Context(), agent, mine.ID), w.projects.Connect(t.Context(), agent, mine.ID),
		w.projects.Revoke(t.Context(), agent, mine.ID), w.projects.Reset(t.Context(), agent),
	} {
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("the answer is %v, want forbidden", err)
		}
	}
	if code != "" {
		t.Error("a code was given out")
	}
}

func TestUpdateChangesWhatItNames(t *testing.T) {
	w := newWorld(t)
	made := w.create(t, w.me, "mine")
	policy, domains := project.Interactive, []string{"Example.COM.", "*.bücher.example", "example.com"}
	got, err := w.projects.Update(t.Context(), w.me, "mine", project.Change{Policy: &policy, AllowDomains: &domains})
	want := made
	want.Policy, want.AllowDomains = project.Interactive, []string{"*.xn--bcher-kva.example", "example.com"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("update answers %+v, %v, want %+v", got, err, want)
	}
	kept, err := w.projects.Get(t.Context(), w.me, made.ID)
	if err != nil || !reflect.DeepEqual(kept, want) {
		t.Errorf("kept is %+v, %v, want %+v", kept, err, want)
	}
}

func TestANameIsTakenOnceAnAccountAndFreeAfterDelete(t *testing.T) {
	w := newWorld(t)
	first := w.create(t, w.me, "mine")
	w.create(t, w.other, "mine")
	second := w.create(t, w.me, "second")
	if _, err := w.projects.Create(t.Context(), w.me, project.Spec{Name: "mine"}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("create answers %v", err)
	}
	taken := "mine"
	if _, err := w.projects.Update(t.Context(), w.me, second.ID, project.Change{Name: &taken}); !fault.Is(err, fault.BadRequest) {
		t.Errorf("update answers %v", err)
	}
	if err := w.projects.Delete(t.Context(), w.me, first.ID); err != nil {
		t.Fatal(err)
	}
	w.create(t, w.me, "mine")
}

func TestDeleteEndsTheProjectsTokens(t *testing.T) {
	w := newWorld(t)
	made := w.create(t, w.me, "mine")
	token := store.AgentToken{
		ID: "k_1", Account: w.me.Account, Project: made.ID, Name: "agent", Role: "control", Hash: "h",
		Created: time.Now(), Expires: time.Now().Add(time.Hour),
	}
	if err := w.store.SaveAgentToken(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if err := w.projects.Delete(t.Context(), w.me, made.ID); err != nil {
		t.Fatal(err)
	}
	kept, err := w.store.GetAgentToken(t.Context(), w.me.Account, "k_1")
	if err != nil || kept.Revoked.IsZero() {
		t.Errorf("the token is %+v, %v", kept, err)
	}
}

func TestWhatAProjectMayNotBe(t *testing.T) {
	w := newWorld(t)
	for name, spec := range map[string]project.Spec{
		"no name":                      {Name: ""},
		"a space before the name":      {Name: " mine"},
		"a space after the name":       {Name: "mine "},
		"a name of 65":                 {Name: strings.Repeat("é", 65)},
		"a name like an id":            {Name: "p_01KB9ZZZZZZZZZZZZZZZZZZZZZ"},
		"a name that turns round":      {Name: "a\u202eb"},
		"a name with nothing visible":  {Name: "a\u200bb"},
		"a name with a line":           {Name: "a\nb"},
		"a name with a slash":          {Name: "a/b"},
		"a name with a bracket":        {Name: "a<b"},
		"a name that is not text":      {Name: "a\xff"},
		"a name that is not composed":  {Name: "e\u0301"},
		"an unknown policy":            {Name: "a", Policy: "admin"},
		"an unknown backend":           {Name: "a", Backend: "cloud"},
		"a domain with a scheme":       {Name: "a", AllowDomains: []string{"https://example.com"}},
		"a domain with a port":         {Name: "a", AllowDomains: []string{"example.com:443"}},
		"a domain with a path":         {Name: "a", AllowDomains: []string{"example.com/x"}},
		"a domain that is all":         {Name: "a", AllowDomains: []string{"*"}},
		"a wildcard in the middle":     {Name: "a", AllowDomains: []string{"a.*.example.com"}},
		"an empty domain":              {Name: "a", AllowDomains: []string{""}},
		"a wildcard of nothing":        {Name: "a", AllowDomains: []string{"*."}},
		"a domain with a user":         {Name: "a", AllowDomains: []string{"me@example.com"}},
		"a domain with an empty label": {Name: "a", AllowDomains: []string{"a..example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			if made, err := w.projects.Create(t.Context(), w.me, spec); !fault.Is(err, fault.BadRequest) {
				t.Errorf("create answers %+v, %v", made, err)
			}
		})
	}
	for _, name := range []string{"a", "Ünïversität 2", "客户研究", strings.Repeat("é", 64), "p_1", "v1.0-rc_2", "कार्य"} {
		w.create(t, w.me, name)
	}
}

func TestAProfileIsChosenAndStays(t *testing.T) {
	w := newWorld(t)
	made, err := w.projects.Create(t.Context(), w.me, project.Spec{Name: "kept", Profile: true})
	if err != nil || !made.Profile {
		t.Fatalf("made is %+v, %v", made, err)
	}
	name, off := "renamed", false
	for _, change := range []project.Change{{Name: &name}, {Profile: &off}} {
		if _, err := w.projects.Update(t.Context(), w.me, made.ID, change); err != nil {
			t.Fatal(err)
		}
		got, err := w.projects.Get(t.Context(), w.me, made.ID)
		if err != nil || got.Profile != (change.Profile == nil) {
			t.Errorf("then it is %+v, %v", got, err)
		}
	}
}
