package e2e_test

import (
	"fmt"
	"testing"
)

func TestClientsGoOnInADocumentThatCameWhileTheirTabWasAsleep(t *testing.T) {
	site, s, page := sharedWorkshop(t)
	access := s.expose(s.session("shared"))
	script := startScript(t, "asleep", clientRoad{
		WS: access.WS, HTTP: access.HTTP, Site: site.URL, StepMS: int(stepPatience.Milliseconds()),
	})
	step := func() clientLine {
		line, err := script.next()
		check(t, err)
		return line
	}
	// leads takes the page elsewhere as a person does, and lets the script know.
	leads := func(address, shown string) {
		_, err := page.Call(t.Context(), "Page.navigate", map[string]string{"url": address})
		check(t, err)
		check(t, page.Wait(t.Context(), shown))
		_, err = fmt.Fprintln(script.input, address)
		check(t, err)
	}
	ready := step()
	leads("chrome://version/", "location.protocol === 'chrome:' && document.readyState === 'complete'")
	away, asleep := step(), step()
	leads(site.URL+"/near", "document.readyState === 'complete' && !!frames[0].document.querySelector('#said')")
	wantLines(t, append([]clientLine{ready, away, asleep}, script.rest()...), [][2]string{
		{"both are there", "Second, Second"},
		{"away", "chrome://version/"},
		{"asleep", "tab_suspended"},
		{"back", site.URL + "/near"},
		{"playwright", "Near, pressed 1"},
		{"puppeteer", "Near, pressed 2"},
		{"a frame", "inner waits, inner waits"},
	})
}
