package browse_test

import (
	"strings"
	"testing"
	"time"

	"chaperone/server/browse"
)

// A snapshot costs what it shows, and not what the page holds: of ten times the page it takes by far not ten times as long.
func TestASnapshotOfALargePageCostsWhatItShows(t *testing.T) {
	c, script, site := launch(t), pageScript(t), made(t)
	for name, body := range map[string]string{
		"one text":        `<pre id=x></pre><script>x.textContent='some words in a line of it\n'.repeat(N*100)</script>`,
		"a button's name": `<button id=x></button><script>x.textContent='word '.repeat(N*300)</script>`,
		"a label":         `<label id=x><input></label><script>x.append('word '.repeat(N*300))</script>`,
		"many texts":      `<div id=x></div><script>x.innerHTML='<p>A paragraph of text</p>'.repeat(N*10)</script>`,
		"names in pieces": `<button id=x></button><script>x.innerHTML='<span>word </span>'.repeat(N*10)</script>`,
	} {
		t.Run(name, func(t *testing.T) {
			large, small := costOf(t, c, script, site, strings.ReplaceAll(body, "N", "3000")), costOf(t, c, script, site, strings.ReplaceAll(body, "N", "300"))
			if least := 50 * time.Millisecond; large > 5*max(small, least) {
				t.Errorf("ten times the page takes %v instead of %v", large, small)
			}
		})
	}
}

// costOf is the least of what several snapshots take.
func costOf(t *testing.T, c *chromium, script string, site *madeSite, body string) time.Duration {
	t.Helper()
	d := drive(t, c, script, browse.Options{})
	d.at, site.body = site.URL, body
	d.open("")
	least := time.Hour
	for range 4 {
		began := time.Now()
		d.do(`{"action":"snapshot"}`)
		least = min(least, time.Since(began))
	}
	return least
}
