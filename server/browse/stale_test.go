package browse_test

import (
	"fmt"
	"regexp"
	"strings"

	"chaperone/server/fault"
)

func tookItsPlace(d *driver) {
	t := d.t
	d.open("replaced.html")
	d.last = strings.Join(d.lines(`{"action":"snapshot","text":"Bellows"}`), "\n")
	ship := d.ref("Ship")
	d.page(`renew.onclick()`)
	f := d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, ship), fault.StaleRef)
	found := regexp.MustCompile(`^button "Ship" is \[ref=(e\d+)\] now$`).FindStringSubmatch(f.Detail)
	if found == nil || !strings.Contains(f.Hint, "Use "+found[1]) {
		t.Fatalf("%+v", f)
	}
	d.do(`{"action":"click","ref":"` + found[1] + `"}`)
	if out := d.page("out.textContent"); out != "ship Bellows" {
		t.Errorf("out says %s", out)
	}
	d.open("replaced.html")
	f = d.refused(`{"action":"click","ref":"`+found[1]+`"}`, fault.StaleRef)
	if !strings.HasPrefix(f.Detail, `button "Ship" is [ref=`) {
		t.Errorf("after the page was loaded again: %+v", f)
	}
	d.open("stale-resort.html")
	ana := d.ref("Thread Ana")
	cid, send := d.ref("Thread Cid"), d.ref("Send")
	if got := shape(d.lines(`{"action":"snapshot","name":"bea"}`)); got != `- button "Thread Bea"` {
		t.Errorf("an entry without a line of its own is found as\n%s", got)
	}
	d.do(`{"action":"click","ref":"` + cid + `"}`)
	d.do(`{"action":"click","ref":"` + send + `"}`)
	f = d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, ana), fault.StaleRef)
	found = regexp.MustCompile(`it is now button "Thread Cid"\nbutton "Thread Ana" is \[ref=(e\d+)\] now$`).FindStringSubmatch(f.Detail)
	if found == nil {
		t.Fatalf("%+v", f)
	}
	d.do(`{"action":"click","ref":"` + found[1] + `"}`)
	if out := d.page("out.textContent"); out != "Ana" {
		t.Errorf("open is %s", out)
	}
}

func eitherOne(d *driver) {
	t := d.t
	d.open("replaced.html")
	same := d.ref(`"Same"`)
	d.page(`twins.firstChild.remove()`)
	if f := d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, same), fault.StaleRef); f.Detail != "" {
		t.Errorf("its twin, which was there before, is told: %+v", f)
	}
	d.open("replaced.html")
	same = d.ref(`"Same"`)
	d.page(`renew.onclick()`)
	if f := d.refused(fmt.Sprintf(`{"action":"click","ref":"%s"}`, same), fault.StaleRef); f.Detail != "" {
		t.Errorf("one of two is told: %+v", f)
	}
}
