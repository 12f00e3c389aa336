package extension_test

import "testing"

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
