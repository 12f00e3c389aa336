package relay_test

import (
	"testing"
	"time"
)

// A machine that slept finds its link dead; one whose timers all ran out at once ends it once.
func TestAMachineThatSleptForHours(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		b := w.open("s_1")
		wire, s := w.held(e, b, "t1")
		send(w.t, wire, s, "A.b", "{}")
		e.want("cdp")
		pass(w.t, 9*time.Hour)
		s.want(w.t, "A.b failed not_connected", "asleep not_connected")
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.attach(again.want("hold"), "T2")
		s.want(w.t, "reset T2")
		w.log.want(w.t, "link.connected", "tab.shared t1", "link.lost lost", "link.connected")
	})
}

func TestAHeldTabOutlivesTheEightHoursOfItsLink(t *testing.T) {
	inWorld(t, func(w *world) {
		e := w.pair(honest().with(tab("t1", "")))
		wire, s := w.held(e, w.open("s_1"), "t1")
		for range 8 * 60 * 2 {
			e.send(object{"t": "ping"})
			e.want("pong")
			pass(w.t, 30*time.Second)
		}
		e.wantClose(4003)
		again := w.pair(honest().with(tab("t1", "s_1")))
		again.attach(again.want("hold"), "T1")
		s.want(w.t, "asleep not_connected", "reset T1")
		send(w.t, wire, s, "A.b", "{}")
		again.reply(again.want("cdp"), "{}")
		s.want(w.t, "A.b {}")
	})
}
