package endpoint

// undoings says, for each method that sets what stays in a tab, the call that takes it back. One without a method has
// none: Chrome takes font families once, and they go down empty.
func undoings() map[string]call {
	undo := map[string]call{
		"Emulation.setDeviceMetricsOverride": {"Emulation.clearDeviceMetricsOverride", []byte(`{}`)},
		"Page.setFontFamilies":               {},
	}
	for method, params := range map[string]string{ //nolint:gosec // names of methods, no credentials
		"Debugger.setAsyncCallStackDepth":             `{"maxDepth":0}`,
		"Debugger.setBlackboxExecutionContexts":       `{"uniqueIds":[]}`,
		"Debugger.setBlackboxPatterns":                `{"patterns":[]}`,
		"Emulation.setAutoDarkModeOverride":           `{}`,
		"Emulation.setCPUThrottlingRate":              `{"rate":1}`,
		"Emulation.setDefaultBackgroundColorOverride": `{}`,
		"Emulation.setEmitTouchEventsForMouse":        `{"enabled":false}`,
		"Emulation.setEmulatedMedia":                  `{"media":"","features":[]}`,
		"Emulation.setEmulatedVisionDeficiency":       `{"type":"none"}`,
		"Emulation.setScriptExecutionDisabled":        `{"value":false}`,
		"Emulation.setScrollbarsHidden":               `{"hidden":false}`,
		"Emulation.setTouchEmulationEnabled":          `{"enabled":false}`,
		"Input.setInterceptDrags":                     `{"enabled":false}`,
		"Network.emulateNetworkConditions":            `{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`,
		"Network.emulateNetworkConditionsByRule":      `{"matchedNetworkConditions":[]}`,
		"Network.overrideNetworkState":                `{"offline":false,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`,
		"Network.setAttachDebugStack":                 `{"enabled":false}`,
		"Network.setBlockedURLs":                      `{"urls":[]}`,
		"Network.setBypassServiceWorker":              `{"bypass":false}`,
		"Network.setCacheDisabled":                    `{"cacheDisabled":false}`,
		"Network.setExtraHTTPHeaders":                 `{"headers":{}}`,
		"Page.setInterceptFileChooserDialog":          `{"enabled":false}`,
		"Runtime.setAsyncCallStackDepth":              `{"maxDepth":0}`,
		"Runtime.setMaxCallStackSizeToCapture":        `{"size":200}`, // V8's own
	} {
		undo[method] = call{method, []byte(params)}
	}
	return undo
}

// clears answers the key whose setting a method takes back, and empty for any other method.
func clears(method string) string {
	if method == "Emulation.clearDeviceMetricsOverride" {
		return "Emulation.setDeviceMetricsOverride"
	}
	return ""
}
