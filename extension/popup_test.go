package extension_test

import (
	"fmt"
	"testing"
)

func TestARevokedBrowserIsOfferedANewCode(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.server.drop(4001)
	s.popup.until(refused)
	s.popup.until("/chaperone pair/.test(document.querySelector('#trouble-text').textContent)")
	if stop := s.popup.eval("!document.querySelector('[data-stop]').hidden && !document.querySelector('#actions').hidden"); stop != true {
		t.Error("a refused project cannot be stopped or disconnected")
	}
	s.popup.eval("document.querySelector('#new-code').click()")
	s.pair(s.popup)
	s.popup.until("document.querySelector('#connecting').hidden && document.querySelector('#trouble').hidden")
	s.server.linksUntil(2)
	s.server.tabsUntil("no tab of the earlier connection", noTab)
}

func TestThePopupNamesATabOnceAndIsNoWiderThanItsWindow(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.tab.eval("document.title = 'A title without end '.repeat(20)")
	naming := "[...document.querySelectorAll('main .title')].filter(e => e.textContent.includes('without end')).length === 1"
	s.popup.until(naming)
	for _, height := range []int{300, 700} {
		size := object{"width": 360, "height": height, "deviceScaleFactor": 1, "mobile": false}
		s.popup.must(s.popup.session, "Emulation.setDeviceMetricsOverride", size, nil)
		wide := s.popup.eval("[document.documentElement, document.querySelector('main')].map(e => e.scrollWidth - e.clientWidth).join()")
		if wide != "0,0" {
			t.Errorf("at 360 by %d the popup scrolls sideways by %v", height, wide)
		}
	}
	s.popup.eval("document.querySelector('#unshare').click()")
	s.popup.until("!document.querySelector('#share').hidden")
	s.popup.until(naming)
}

// Whatever height Chrome gives, one thing scrolls, and all of the popup can be scrolled to.
func TestThePopupScrollsInOnePlace(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	s.sharesSix(s.popup)
	for _, height := range []int{240, 420, 560, 599, 600, 700} {
		s.popup.size(360, height)
		s.popup.until(fmt.Sprintf("innerHeight === %d", height))
		seen := s.popup.eval(`(() => {
			const scrolling = [document.documentElement, document.querySelector('main')].filter(e => e.scrollHeight > e.clientHeight + 1);
			for (const e of scrolling) e.scrollTo(0, 9999);
			const box = id => document.querySelector(id).getBoundingClientRect();
			const shown = box('#settings').bottom <= box('footer').top && box('footer').bottom <= innerHeight + 1;
			return scrolling.map(e => e.tagName).join() + (shown ? '' : ', and the end is not to be seen');
		})()`)
		want := "MAIN"
		if height < 600 {
			want = "HTML"
		}
		if seen != want {
			t.Errorf("%d high, what scrolls is %v, want %s", height, seen, want)
		}
	}
}

func TestAnAgentIsSaidToUseATabOnlyWhileItCan(t *testing.T) {
	t.Parallel()
	s := newSharing(t, "act", "act")
	used := "!document.querySelector('#current-use').hidden"
	s.server.hold(s.name)
	s.popup.until(used)
	s.popup.eval("document.querySelector('#level-read').click()")
	s.popup.until("!(" + used + ") && document.querySelector('#level-read').checked")
	s.popup.eval("document.querySelector('#level-act').click()")
	s.server.tabsUntil("a tab to act in", withLevel("act"))
	s.server.hold(s.name)
	s.popup.until(used)
	s.server.drop(4001)
	s.popup.until(refused)
	s.popup.until("!(" + used + ")")
}

func TestThePopupOpensOnTheProjectThatWasConnectedLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "act")
	tab := w.open(w.site.URL + "/first")
	popup := w.popup(tab)
	w.pair(popup)
	w.server.drop(4001)
	popup.until(refused)
	w.another(popup, "Research")
	again := w.popup(tab)
	again.until(connected + " && document.querySelector('.chip:has(:checked) .chip-name').textContent === 'Research'")
}
