package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"chaperone/relay/endpoint"
	"chaperone/relay/program"
	"chaperone/server/browse"
)

// fence keeps CDP clients within the session's domains: they lead no tab out, and while a page or a frame of its own
// process stands outside, or nobody knows yet where it stands, they can do no more there than leave.
type fence struct {
	endpoint.Edge
	domains []string
}

// within is the edge itself where every domain is allowed.
func within(edge endpoint.Edge, domains []string) endpoint.Edge {
	if len(domains) == 0 {
		return edge
	}
	return fence{edge, domains}
}

// Hold lets only what stands within be driven.
func (f fence) Hold(ctx context.Context, tab string, sink endpoint.Sink) (endpoint.Wire, error) {
	watched := &watchedSink{Sink: sink, children: map[string]standing{}}
	wire, err := f.Edge.Hold(ctx, tab, watched)
	if err != nil {
		return nil, err
	}
	return fencedWire{wire, f, tab, watched}, nil
}

func (f fence) allows(address string) bool { return browse.Within(f.domains, address) }

// address is where the tab is; what is not listed any more is nowhere.
func (f fence) address(tab string) string {
	for _, t := range f.Tabs() {
		if t.ID == tab {
			return t.URL
		}
	}
	return ""
}

type fencedWire struct {
	endpoint.Wire
	fence fence
	tab   string
	sink  *watchedSink
}

// Send refuses with a CDP error what leads out, and what is done outside.
func (w fencedWire) Send(ctx context.Context, child, method string, params []byte, reply func([]byte, error)) error {
	if method == "Page.navigate" {
		var to struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(params, &to) != nil || to.URL == "" || !w.fence.allows(to.URL) {
			return w.refusal()
		}
	}
	if !leaves(method) && w.isOutside(child) {
		return w.refusal()
	}
	if child != "" && method == "Page.getFrameTree" {
		reply = w.sink.reading(child, reply)
	}
	return w.Wire.Send(ctx, child, method, params, reply)
}

func (w fencedWire) isOutside(child string) bool {
	if !w.fence.allows(w.fence.address(w.tab)) {
		return true
	}
	address, isChild := w.sink.standsAt(child)
	return isChild && (address == "" || !w.fence.allows(address))
}

func (w fencedWire) refusal() error {
	return &program.CallError{
		Code: -32000, Message: "Chaperone: the project does not allow this domain; allowed: " + strings.Join(w.fence.domains, ", "),
	}
}

// leaves reports whether a command is permitted outside too: it says nothing of the page there and does nothing to it.
func leaves(method string) bool {
	_, name, _ := strings.Cut(method, ".")
	return name == "enable" || name == "disable" || slices.Contains([]string{
		"Page.navigate", "Page.getNavigationHistory", "Page.navigateToHistoryEntry", "Page.stopLoading", "Page.getFrameTree",
		"Page.setLifecycleEventsEnabled", "Target.setAutoAttach", "Runtime.runIfWaitingForDebugger", "Emulation.setFocusEmulationEnabled",
	}, method)
}
