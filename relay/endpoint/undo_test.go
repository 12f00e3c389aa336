package endpoint_test

import (
	"strings"
	"testing"

	"chaperone/relay/cdp"
)

// What takes a setting back must itself be permitted at the edge, and change nothing when nothing was set.
func TestWhatIsTakenBackIsPermitted(t *testing.T) {
	table, err := cdp.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := newEdge("t1")
	capability := grant(t, e)
	other := connect(t, capability.WS())
	other.attach("TARGETt1") // so that the tab is not simply let go
	set := []string{
		"Emulation.setDeviceMetricsOverride", "Emulation.setPageScaleFactor", "Emulation.setDefaultBackgroundColorOverride",
		"Emulation.setAutoDarkModeOverride", "Emulation.setEmulatedMedia", "Emulation.setEmulatedVisionDeficiency",
		"Emulation.setCPUThrottlingRate", "Emulation.setScriptExecutionDisabled", "Emulation.setTouchEmulationEnabled",
		"Emulation.setEmitTouchEventsForMouse", "Emulation.setScrollbarsHidden", "Input.setIgnoreInputEvents",
		"Input.setInterceptDrags", "Network.setExtraHTTPHeaders", "Network.setCacheDisabled", "Network.setBypassServiceWorker",
		"Network.emulateNetworkConditions", "Network.emulateNetworkConditionsByRule", "Network.overrideNetworkState",
		"Network.setAttachDebugStack", "Debugger.setBlackboxExecutionContexts", "Debugger.setBlackboxPatterns",
		"Debugger.setAsyncCallStackDepth", "Runtime.setAsyncCallStackDepth", "Runtime.setMaxCallStackSizeToCapture",
		"Network.enable", "CSS.enable", "Log.enable", "Performance.enable", "Debugger.enable", "Audits.enable", "Accessibility.enable",
	}
	for _, method := range set {
		if strings.Contains(table.Raw("act", method, nil).Reason, "at any level") {
			continue // nobody can set it
		}
		c := connect(t, capability.WS())
		session := c.attach("TARGETt1")
		c.call(session, method, "{}")
		n := e.count()
		c.call("", "Target.detachFromTarget", `{"sessionId":"`+session+`"}`)
		e.await(t, method+" is taken back", func() bool { return e.count() > n })
		for _, back := range e.since(n) {
			name, params, _ := strings.Cut(back, " ")
			if verdict := table.Raw("act", name, []byte(params)); !verdict.Allowed() {
				t.Errorf("%s is taken back by %s: %s", method, back, verdict.Reason)
			}
		}
	}
}
