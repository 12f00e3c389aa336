package browse_test

import (
	"strings"
	"testing"

	"chaperone/relay/program"
	"chaperone/server/browse"
)

func TestAResultReadsAsPageAndNotices(t *testing.T) {
	t.Parallel()
	landed := false
	said := "page text"
	read := browse.Readable(browse.Result{
		Title: "A\u202etitle", URL: "https://example.com/", Landed: &landed, Text: &said,
		Snapshot: &browse.Snapshot{Text: "- link \"Docs\" [ref=e2]\n", Mode: "diff", More: &browse.More{Cursor: "c7", Lines: 3}},
		Dialogs:  []program.Dialog{{Type: "alert", Message: "hear\nthis"}},
		Notices:  []string{"our notice"},
	})
	before, rest, ok := strings.Cut(read, "<<<page ")
	if !ok || before != "" {
		t.Fatalf("before the boundary stands %q", before)
	}
	page, after, ok := strings.Cut(rest, "<<<end ")
	if !ok {
		t.Fatal("the page is not ended")
	}
	for _, want := range []string{"Atitle — https://example.com/\n", `[ref=e2]`, said, `- alert dialog, dismissed: "hear\nthis"`} {
		if !strings.Contains(page, want) || strings.Contains(after, want) {
			t.Errorf("%q does not stand between the boundaries of %s", want, read)
		}
	}
	for _, want := range []string{"not certain", "Changes only", "3 more lines", "c7", "our notice"} {
		if !strings.Contains(after, want) {
			t.Errorf("the notices lack %q: %s", want, after)
		}
	}
}

func TestAValueThatALineShowsIsNotSaidTwice(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]int{"Oslo": 1, "Osl": 2, "": 1} {
		read := browse.Readable(browse.Result{Value: &value, Snapshot: &browse.Snapshot{Text: "- textbox \"City\" [ref=e2]: Oslo\n- button \"Go\"", Mode: "diff"}})
		if value == "" {
			value = "the field now holds: "
		}
		if got := strings.Count(read, value); got != want {
			t.Errorf("%q stands %d times in %s", value, got, read)
		}
	}
}

func TestAResultWithoutAPageSaysWhatWasDone(t *testing.T) {
	t.Parallel()
	if got := browse.Readable(browse.Result{Action: "status"}); got != "status: done" {
		t.Errorf("got %q", got)
	}
}
