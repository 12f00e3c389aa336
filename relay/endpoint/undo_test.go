package endpoint_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
)

// What takes a setting back is sent when a client leaves the others, and is itself permitted at the edge, as is what
// sets it.
func TestWhatIsTakenBackIsPermitted(t *testing.T) {
	permitted := permittedMethods(t)
	table, err := cdp.Load()
	if err != nil {
		t.Fatal(err)
	}
	e := newEdge("t1")
	capability := grant(t, e)
	other := connect(t, capability.WS())
	other.attach("TARGETt1") // so that the tab is not simply let go
	c := connect(t, capability.WS())
	domains := []string{"Network.enable", "CSS.enable", "Log.enable", "Performance.enable", "Debugger.enable", "Audits.enable", "Accessibility.enable"}
	for _, method := range slices.Concat(endpoint.Settings(), domains) {
		if !permitted[method] {
			t.Errorf("%s is taken back, and nobody may set it", method)
		}
		if back, stays := endpoint.Undone(method); stays && back == "" {
			continue // there is nothing to send
		}
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

// A method that is permitted and sets something is taken back, or stands here with what becomes of it.
func TestWhateverIsPermittedAndStaysIsTakenBack(t *testing.T) {
	elsewhere := map[string]string{
		"DOM.setAttributeValue":              "of the document",
		"DOM.setAttributesAsText":            "of the document",
		"DOM.setNodeName":                    "of the document",
		"DOM.setNodeValue":                   "of the document",
		"DOM.setOuterHTML":                   "of the document",
		"Page.setDocumentContent":            "of the document",
		"Debugger.setPauseOnExceptions":      "nothing pauses",
		"Debugger.setSkipAllPauses":          "nothing pauses",
		"Emulation.setFocusEmulationEnabled": "the edge's own",
		"Emulation.setUserAgentOverride":     "only takes back",
		"Network.setUserAgentOverride":       "only takes back",
		"Page.setLifecycleEventsEnabled":     "a switch of the router's",
		"Profiler.setSamplingInterval":       "ends with its domain",
		"Target.setAutoAttach":               "merged by the router",
	}
	sets := regexp.MustCompile(`\.(set|emulate|override)[A-Z]`)
	for method := range permittedMethods(t) {
		_, stays := endpoint.Undone(method)
		_, known := elsewhere[method]
		if sets.MatchString(method) && stays == known {
			t.Errorf("%s: taken back %v, known to need nothing %v: want one of them", method, stays, known)
		}
	}
}

// permittedMethods are those of the permitted protocol.
func permittedMethods(t *testing.T) map[string]bool {
	t.Helper()
	table, err := cdp.Load()
	if err != nil {
		t.Fatal(err)
	}
	var protocol struct {
		Domains []struct {
			Domain   string `json:"domain"`
			Commands []struct {
				Name string `json:"name"`
			} `json:"commands"`
		} `json:"domains"`
	}
	if err := json.Unmarshal(table.Protocol(), &protocol); err != nil {
		t.Fatal(err)
	}
	methods := map[string]bool{}
	for _, domain := range protocol.Domains {
		for _, command := range domain.Commands {
			methods[domain.Domain+"."+command.Name] = true
		}
	}
	if len(methods) < 50 {
		t.Fatalf("%d methods are permitted: the protocol was not read", len(methods))
	}
	return methods
}
