package chrome_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
	"chaperone/server/fault"
)

// tabsFile is what a profile remembers.
func tabsFile(root string) string { return filepath.Join(root, "a_1", mine, "tabs.json") }

func urls(b *chrome.Browser) []string {
	list := make([]string, 0, len(b.Tabs()))
	for _, t := range b.Tabs() {
		list = append(list, t.URL)
	}
	return list
}

// threeTabs is the second session on a profile whose first left three tabs, the second of which was selected.
func threeTabs(t *testing.T, s *site, root string) *chrome.Browser {
	t.Helper()
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.Interactive))
	for _, path := range []string{"/one", "/two", "/three"} {
		run(t, b, program.NewTab, navigate(s.URL+path), settle())
	}
	run(t, b, program.NewTab, settle()) // blank, so nothing to come back to
	b.Select("t2")
	end(t, b)
	s.mu.Lock()
	s.seen = nil
	s.mu.Unlock()
	return w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
}

func TestTabsComeBackAsleep(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	b := threeTabs(t, s, root)
	if info, err := os.Stat(tabsFile(root)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if got := urls(b); !slices.Equal(got, []string{s.URL + "/one", s.URL + "/two", s.URL + "/three"}) || b.Selected() != "t2" {
		t.Errorf("the tabs are %q, selected is %q", got, b.Selected())
	}
	if got := s.lines(); len(got) != 0 {
		t.Errorf("nobody has asked for a page, but the site saw %q", got)
	}
	if got := run(t, b, "t2", settle()); got.Tab != "t2" || len(got.Opened) != 0 {
		t.Errorf("the woken tab is %+v", got)
	}
	run(t, b, "t2", settle())
	s.waitFor("GET /two")
	if got := slices.DeleteFunc(s.lines(), func(line string) bool { return line == "GET /favicon.ico" }); !slices.Equal(got, []string{"GET /two"}) {
		t.Errorf("the site saw %q", got)
	}
}

func TestAProfilesTabsAreTabs(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	b := threeTabs(t, s, root)
	run(t, b, "t1", navigate(s.URL+"/elsewhere"), settle())
	if ok, _ := s.saw("GET /one"); ok {
		t.Error("a page was loaded that the program leaves at once")
	}
	if err := b.CloseTab(t.Context(), "t3"); err != nil {
		t.Fatal(err)
	}
	if got := run(t, b, program.NewTab, navigate(s.URL+"/new"), settle()).Tab; slices.Contains([]string{"t1", "t2", "t3"}, got) {
		t.Errorf("a new tab is called %q", got)
	}
	want := []string{s.URL + "/elsewhere", s.URL + "/two", s.URL + "/new"}
	if got := urls(b); !slices.Equal(got, want) {
		t.Errorf("the tabs are %q", got)
	}
	within(t, patience, "the tabs are written while the session lives", func() bool {
		text, _ := os.ReadFile(tabsFile(root))
		return strings.Contains(string(text), "/new") && !strings.Contains(string(text), "/three")
	})
}

func TestAWatchedTabWakes(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	plant(t, root, fmt.Sprintf(`{"tabs":[%q],"selected":0}`, s.URL+"/seen"))
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pictures int
	err := b.Cast(ctx, program.CastOptions{Tab: "t1", FPS: 10}, func(program.Picture) { pictures++; cancel() })
	if ok, _ := s.saw("GET /seen"); err != nil || pictures == 0 || !ok {
		t.Errorf("%d pictures, %v, loaded: %v", pictures, err, ok)
	}
}

func TestARememberedPageThatIsNotThereIsToldOnce(t *testing.T) {
	s, root := signIn(t), filepath.Join(shortDir(t), "profiles")
	plant(t, root, `{"tabs":["https://gone.test/"],"selected":0}`)
	w := newProfiles(t, root, s)
	b := w.openProfile(t, onProfile("a_1", mine, chrome.ReadOnly))
	look := program.Program{Tab: "t1", DeadlineMS: 20_000, Steps: []program.Step{settle()}}
	if got, err := b.Run(t.Context(), look); err != nil || got.Error == nil || got.Error.Code != string(fault.NavigationFailed) {
		t.Errorf("the first program is told %+v, %v", got.Error, err)
	}
	run(t, b, "t1", navigate(s.URL+"/"), settle())
}

func plant(t *testing.T, root, text string) {
	t.Helper()
	folder := filepath.Dir(tabsFile(root))
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(tabsFile(root), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestOnlyAddressesComeBack(t *testing.T) {
	t.Parallel()
	many := make([]string, 0, 51)
	for i := range 51 {
		many = append(many, fmt.Sprintf("https://site.test/%d", i))
	}
	encode := func(tabs []string, selected int) string {
		text, err := json.Marshal(tabs)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"tabs":%s,"selected":%d}`, text, selected)
	}
	for name, c := range map[string]struct {
		file     string
		want     []string
		selected string
	}{
		"51 become the newest 50":                {encode(many, 50), many[1:], "t50"},
		"but for the selected one":               {encode(many, 0), append([]string{many[0]}, many[2:]...), "t1"},
		"what is no address of the web is not":   {`{"tabs":["file:///etc/passwd","javascript:alert(1)","https://site.test/","chrome://settings","about:blank","data:text/html,x","//site.test/","https://me:secret@site.test/","view-source:https://site.test/"],"selected":2}`, []string{"https://site.test/"}, "t1"},
		"a selected one that does not come back": {`{"tabs":["file:///etc/passwd","https://site.test/"],"selected":0}`, []string{"https://site.test/"}, ""},
		"a selected one that never was":          {`{"tabs":["https://site.test/"],"selected":7}`, []string{"https://site.test/"}, ""},
		"what is not permitted":                  {`{"tabs":["https://refused.test/","https://site.test/"],"selected":1}`, []string{"https://site.test/"}, "t1"},
		"an empty file is no obstacle":           {"", []string{}, ""},
		"nor a broken one":                       {`{"tabs":["https://site.te`, []string{}, ""},
		"nor one of another kind":                {`[1, "x"]`, []string{}, ""},
		"nor one that has no end":                {`{"tabs":["` + strings.Repeat("x", 2<<20) + `"]}`, []string{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(shortDir(t), "profiles")
			plant(t, root, c.file)
			o := onProfile("a_1", mine, chrome.ReadOnly)
			o.Permits = func(address string) bool { return !strings.Contains(address, "refused") }
			b := newProfiles(t, root).openProfile(t, o)
			if got := urls(b); !slices.Equal(got, c.want) || b.Selected() != c.selected {
				t.Errorf("the tabs are %q, selected is %q", got, b.Selected())
			}
		})
	}
}
