package chrome_test

import (
	"context"
	"path/filepath"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/chrome"
)

const downloads = `<meta charset="utf-8"><style>button { position: fixed; inset: 0; width: 100% }</style><button id=go>go</button><script>
const kind = new URLSearchParams(location.search)
go.onclick = () => {
  if (kind.has('none')) return
  for (let n = 0; n < (kind.has('two') ? 2 : 1); n++) {
    const text = kind.has('large') ? 'x'.repeat(5000) : 'id,total\n7,' + (42 + n)
    Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([text])), download: 'report ü ' + n + '.csv' }).click()
  }
}</script>`

func TestADownloadIsFetchedForOneProgram(t *testing.T) {
	s := newSite(t, map[string]string{"/": downloads})
	w := newWorld(t, s)
	b := w.open(t, chrome.Interactive)
	for _, query := range []string{"", "?two"} { // of two the first counts
		run(t, b, newOr(b), navigate(s.URL+"/"+query), settle())
		result, got, err := b.RunFetching(t.Context(), program.Program{Tab: "t1", DeadlineMS: 20_000, Steps: append(click(0), settle())}, 4000)
		if err != nil || result.Error != nil {
			t.Fatal(err, result.Error)
		}
		if got == nil || got.Name != "report ü 0.csv" || string(got.Data) != "id,total\n7,42" || got.Failed || got.TooLarge {
			t.Errorf("%q: %+v", query, got)
		}
	}
	run(t, b, "t1", append(click(0), settle())...)
	if left, err := filepath.Glob(filepath.Join(w.runDir, "c-*", "tmp", "fetch-*")); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func newOr(b *chrome.Browser) string {
	if len(b.Tabs()) > 0 {
		return b.Tabs()[0].ID
	}
	return program.NewTab
}

func TestADownloadThatIsTooLargeOrNoneIsTold(t *testing.T) {
	s := newSite(t, map[string]string{"/": downloads})
	b := newWorld(t, s).open(t, chrome.Interactive)
	fetch := func(query string) *program.Download {
		t.Helper()
		run(t, b, newOr(b), navigate(s.URL+"/"+query), settle())
		_, got, err := b.RunFetching(t.Context(), program.Program{Tab: "t1", DeadlineMS: 20_000, Steps: append(click(0), settle())}, 4000)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := fetch("?large"); got == nil || !got.TooLarge || got.Data != nil {
		t.Errorf("a large one is %+v", got)
	}
	if got := fetch("?none"); got != nil {
		t.Errorf("none is %+v", got)
	}
}

func TestFetchingEndsWithWhoAskedForIt(t *testing.T) {
	s := newSite(t, map[string]string{"/": downloads})
	b := newWorld(t, s).open(t, chrome.Interactive)
	run(t, b, program.NewTab, navigate(s.URL+"/?none"), settle())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, got, err := b.RunFetching(ctx, program.Program{Tab: "t1", DeadlineMS: 20_000, Steps: click(0)}, 4000); err == nil || got != nil {
		t.Errorf("it answers %+v, %v", got, err)
	}
}
