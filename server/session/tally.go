package session

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"chaperone/relay/cdp"
	"chaperone/relay/endpoint"
	"chaperone/server/fault"
	"chaperone/server/ledger"
)

const (
	// mostNames is how many methods a row names; the rest count as other.
	mostNames = 64
	// mostChains is how many clients' digests a row holds.
	mostChains = 32
	other      = "other"
)

// tally is what a row will say: counts and digests, nothing of what was said.
type tally struct {
	pending                          ledger.Pending
	peer                             string
	commands, writes, reads, refused int
	names                            map[string]int
	chains                           map[int]chain
}

func newTally(p ledger.Pending) *tally {
	return &tally{pending: p, names: map[string]int{}, chains: map[int]chain{}}
}

func (t *tally) add(c endpoint.Command, after chain) {
	t.commands++
	switch {
	case c.Refused:
		t.refused++
	case c.Writes:
		t.writes++
	default:
		t.reads++
	}
	name := nameOf(c)
	if _, ok := t.names[name]; !ok && len(t.names) >= mostNames-1 {
		name = other
	}
	t.names[name]++
	t.chains[c.Client] = after
}

// hasRoomFor reports whether a client's digest fits in: with more clients in one span there are more rows.
func (t *tally) hasRoomFor(client int) bool {
	_, ok := t.chains[client]
	return ok || len(t.chains) < mostChains
}

// nameOf is what a command is counted as. What was let through has a name of the protocol's; what was refused may be
// any text at all, and only its domain is told, if it is one.
func nameOf(c endpoint.Command) string {
	if !c.Refused {
		if isMethod(c.Method) {
			return c.Method
		}
		return other
	}
	domain, _, _ := strings.Cut(c.Method, ".")
	if slices.Contains(domains(), domain) {
		return "refused." + domain
	}
	return "refused." + other
}

// isMethod reports whether a name can stand in the ledger.
func isMethod(name string) bool {
	const most = 64
	domain, command, found := strings.Cut(name, ".")
	return found && len(name) <= most && isWord(domain) && isWord(command)
}

func isWord(text string) bool {
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}

// domains are the protocol's, with those that Chrome has but does not describe.
func domains() []string {
	return strings.Fields(`Accessibility Animation Audits Autofill BackgroundService BluetoothEmulation Browser CSS CacheStorage Cast
		Console CrashReportContext DOM DOMDebugger DOMSnapshot DOMStorage Database Debugger DeviceAccess DeviceOrientation Emulation
		EventBreakpoints Extensions FedCm Fetch FileSystem HeadlessExperimental HeapProfiler IO IndexedDB Input Inspector LayerTree Log
		Media Memory Network Overlay PWA Page Performance PerformanceTimeline Preload Profiler Runtime Schema Security ServiceWorker
		SmartCardEmulation Storage SystemInfo Target Tethering Tracing WebAudio WebAuthn WebMCP`)
}

// outcome is the row's: forbidden when nothing was let through.
func (t *tally) outcome() ledger.Outcome {
	detail := map[string]string{}
	for key, n := range map[string]int{
		"commands": t.commands, "writes": t.writes, "reads": t.reads, "refused": t.refused,
	} {
		if n > 0 {
			detail[key] = strconv.Itoa(n)
		}
	}
	for name, n := range t.names {
		detail[name] = strconv.Itoa(n)
	}
	for client, c := range t.chains {
		detail["client."+strconv.Itoa(client)] = c.String()
	}
	o := ledger.Outcome{Outcome: ledger.Done, Detail: detail}
	if t.refused == t.commands {
		o.Outcome = string(fault.Forbidden)
	}
	return o
}

// destination is where a command leads, if it says so. What is refused leads nowhere, and may name any place.
func destination(c endpoint.Command) string {
	if c.Refused || c.Method != "Page.navigate" && c.Method != "Target.createTarget" {
		return ""
	}
	message, err := cdp.Scan(c.Raw)
	if err != nil {
		return ""
	}
	var params struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(message.Params, &params) != nil {
		return ""
	}
	return params.URL
}

// summary is what an event says of a span.
type summary struct {
	clients int
	tally   *tally
	hosts   []string
	rows    []int64
}

func newSummary(clients int) *summary {
	return &summary{clients: clients, tally: newTally(ledger.Pending{})}
}

func (s *summary) add(row *tally, seq int64) {
	s.tally.commands += row.commands
	s.tally.writes += row.writes
	s.tally.reads += row.reads
	s.tally.refused += row.refused
	for name, n := range row.names {
		s.tally.names[name] += n
	}
	if row.peer != "" && !slices.Contains(s.hosts, row.peer) {
		s.hosts = append(s.hosts, row.peer)
	}
	s.rows = append(s.rows, seq)
}

func (s *summary) fields() map[string]any {
	slices.Sort(s.hosts)
	slices.Sort(s.rows)
	fields := map[string]any{"state": "used", "clients": s.clients}
	if t := s.tally; t.commands > 0 {
		fields["commands"], fields["writes"], fields["reads"], fields["refused"] = t.commands, t.writes, t.reads, t.refused
		fields["methods"], fields["hosts"], fields["ledger"] = t.names, s.hosts, s.rows
	}
	return fields
}
