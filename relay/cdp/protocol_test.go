package cdp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/relay/cdp"
)

var update = flag.Bool("update", false, "write testdata/protocol.json from the installed Chromium, and testdata/permitted.json from the table")

// knownProtocol is what Chromium has: parameters by method, and events.
type knownProtocol struct {
	About   string              `json:"about"`
	Methods map[string][]string `json:"methods"`
	Events  []string            `json:"events"`
}

// permittedList is what a reviewer looks at: parameters by method, by level, that the table permits.
type permittedList struct {
	About string              `json:"about"`
	Read  map[string][]string `json:"read"`
	Act   map[string][]string `json:"act"`
}

func readProtocol(t *testing.T) knownProtocol {
	t.Helper()
	var known knownProtocol
	readVectors(t, "testdata/protocol.json", &known)
	if len(known.Methods) < 500 || len(known.Events) < 150 {
		t.Fatalf("only %d methods and %d events in testdata/protocol.json", len(known.Methods), len(known.Events))
	}
	return known
}

func TestWhatIsPermittedIsWhatWasReviewed(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	got := permittedList{
		About: "What raw clients may call, with which parameters, by level. Written by go test ./relay/cdp -update; look at each change.",
		Read:  table.Permitted("read"), Act: table.Permitted("act"),
	}
	if *update {
		writeByLine(t, "testdata/permitted.json", got)
	}
	var want permittedList
	readVectors(t, "testdata/permitted.json", &want)
	compareLists(t, "read", got.Read, want.Read)
	compareLists(t, "act", got.Act, want.Act)
}

func compareLists(t *testing.T, level string, got, want map[string][]string) {
	t.Helper()
	for method, params := range got {
		if reviewed, listed := want[method]; !listed || !slices.Equal(params, reviewed) {
			t.Errorf("%s permits %s %v; reviewed was %v (listed: %v)", level, method, params, reviewed, listed)
		}
	}
	for method := range want {
		if _, permitted := got[method]; !permitted {
			t.Errorf("%s does not permit %s any more", level, method)
		}
	}
}

// writeByLine writes JSON with each method on a line of its own.
func writeByLine(t *testing.T, path string, value any) {
	t.Helper()
	indented, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	depth := 0
	for line := range strings.Lines(string(indented)) {
		text := strings.TrimSpace(line)
		depth -= strings.Count(text, "]")
		switch {
		case depth > 0:
			out.WriteString(text)
			if strings.HasSuffix(text, ",") {
				out.WriteByte(' ')
			}
		case strings.HasSuffix(text, "["):
			out.WriteString(strings.TrimSuffix(line, "\n"))
		case strings.HasPrefix(text, "]"):
			out.WriteString(text + "\n")
		default:
			out.WriteString(line)
		}
		depth += strings.Count(text, "[")
	}
	if err := os.WriteFile(path, append(bytes.TrimSpace(out.Bytes()), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNotListedIsRefused(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for method, params := range readProtocol(t).Methods {
		for _, level := range []string{"read", "act"} {
			permitted, listed := table.Permitted(level)[method]
			if got := table.Raw(level, method, nil).Allowed(); got != listed {
				t.Errorf("%s at %s: permitted %v, listed %v", method, level, got, listed)
			}
			for _, param := range params {
				if !slices.Contains(permitted, param) {
					checkParamRefused(t, table, [3]string{level, method, param})
				}
			}
		}
		if table.Call("act", method, nil).Allowed() && !table.Raw("act", method, nil).Allowed() {
			t.Errorf("%s is permitted in programs and refused to raw clients", method)
		}
	}
}

// checkParamRefused gives a parameter, named with level and method, values of each kind.
func checkParamRefused(t *testing.T, table *cdp.Table, named [3]string) {
	t.Helper()
	level, method, param := named[0], named[1], named[2]
	for _, value := range []string{`""`, `"https://example.com/"`, `0`, `1`, `1.5`, `true`, `false`, `null`, `{}`, `[]`, `{"$":"0.x"}`} {
		if table.Raw(level, method, fmt.Appendf(nil, `{%q:%s}`, param, value)).Allowed() {
			t.Errorf("%s at %s: parameter %s is not listed, and may be %s", method, level, param, value)
		}
	}
}

func TestWhatIsListedExists(t *testing.T) {
	t.Parallel()
	table, known := loadTable(t), readProtocol(t)
	checkExists(t, table, known)
	for method := range table.Permitted("act") {
		if _, exists := known.Methods[method]; !exists {
			t.Errorf("Chromium has no %s", method)
		}
	}
	for _, event := range table.Told() {
		if !slices.Contains(known.Events, event) {
			t.Errorf("Chromium has no event %s", event)
		}
	}
	for method, params := range table.Permitted("read") {
		if missing := without(params, table.Permitted("act")[method]); len(missing) > 0 {
			t.Errorf("%s: read permits %v, act does not", method, missing)
		}
	}
}

// checkExists sees to it that the parameters of permitted methods are those that the protocol has.
func checkExists(t *testing.T, table *cdp.Table, known knownProtocol) {
	t.Helper()
	for method, permitted := range table.Permitted("act") {
		params, exists := known.Methods[method]
		if missing := without(permitted, params); exists && len(missing) > 0 {
			t.Errorf("Chromium's %s has no %v", method, missing)
		}
	}
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(some, one) })
}

func TestWhatIsNeverPermittedIsNot(t *testing.T) {
	t.Parallel()
	table, known := loadTable(t), readProtocol(t)
	domains := map[string]bool{}
	for method := range known.Methods {
		domain, _, _ := strings.Cut(method, ".")
		domains[domain] = true
	}
	for _, name := range table.Never() {
		if _, isMethod := known.Methods[name]; !isMethod && !domains[name] {
			t.Errorf("Chromium has neither method nor domain %s", name)
		}
		for method := range table.Permitted("act") {
			if method == name || strings.HasPrefix(method, name+".") {
				t.Errorf("%s is permitted though %s never is", method, name)
			}
		}
		for _, event := range table.Told() {
			if strings.HasPrefix(event, name+".") {
				t.Errorf("%s is told though %s is never permitted", event, name)
			}
		}
	}
}

// TestWhatStaysClosed holds whatever else changes.
func TestWhatStaysClosed(t *testing.T) {
	t.Parallel()
	closed := []string{
		"Autofill", "Browser", "CacheStorage", "DOMStorage", "DeviceAccess", "DigitalCredentials", "Extensions", "FedCm",
		"Fetch", "FileSystem", "IO", "IndexedDB", "Security", "ServiceWorker", "Storage", "SystemInfo", "Tethering", "Tracing", "WebAuthn",
	}
	for method := range loadTable(t).Permitted("act") {
		domain, _, _ := strings.Cut(method, ".")
		isTarget := domain == "Target" && method != "Target.setAutoAttach"
		if slices.Contains(closed, domain) || isTarget || strings.Contains(strings.ToLower(method), "cookie") {
			t.Errorf("%s is permitted", method)
		}
	}
}

func TestOtherSpellingsAreRefused(t *testing.T) {
	t.Parallel()
	table := loadTable(t)
	for method := range table.Permitted("act") {
		domain, command, _ := strings.Cut(method, ".")
		for _, other := range []string{
			strings.ToLower(method), strings.ToUpper(method), domain + "." + strings.ToUpper(command[:1]) + command[1:], " " + method,
			method + " ", method + "\x00", method + "\n", "\ufeff" + method, method + "\u200b", domain + "\u2024" + command, domain + ".." + command,
			domain + "/" + command, domain + "." + command + ".", domain, command, "." + method, domain + ".constructor", domain + ".__proto__",
			strings.Replace(method, "e", "\u0435", 1), strings.Replace(method, "a", "\uff41", 1), strings.Replace(method, "o", "o\u0301", 1),
		} {
			if other != method && (table.Raw("act", other, nil).Allowed() || table.Call("act", other, nil).Allowed()) {
				t.Errorf("%q is permitted", other)
			}
			if other != method && !table.Writes(other) {
				t.Errorf("%q is said to read", other)
			}
		}
	}
}

// TestInstalledChromium holds the table against the protocol of the Chromium that is here, whose version may be another
// than that of testdata/protocol.json: what only it has must be refused, and what it has in common must be the same.
func TestInstalledChromium(t *testing.T) {
	t.Parallel()
	known := protocolOfChromium(t)
	if *update {
		writeByLine(t, "testdata/protocol.json", known)
	}
	table := loadTable(t)
	checkExists(t, table, known)
	act := table.Permitted("act")
	for method, params := range known.Methods {
		if _, listed := act[method]; listed != table.Raw("act", method, nil).Allowed() {
			t.Errorf("%s: listed %v", method, listed)
		}
		for _, param := range without(params, act[method]) {
			checkParamRefused(t, table, [3]string{"act", method, param})
		}
	}
	if missing := without(slices.Sorted(maps.Keys(act)), slices.Collect(maps.Keys(known.Methods))); len(missing) > 0 {
		t.Logf("this Chromium has no %v", missing)
	}
}

// protocolOfChromium asks a Chromium started for it what it understands.
func protocolOfChromium(t *testing.T) knownProtocol {
	t.Helper()
	answer := get(t, "http://"+startChromium(t)+"/json/protocol")
	type named struct {
		Name       string `json:"name"`
		Parameters []struct {
			Name string `json:"name"`
		} `json:"parameters"`
	}
	var protocol struct {
		Domains []struct {
			Domain   string  `json:"domain"`
			Commands []named `json:"commands"`
			Events   []named `json:"events"`
		} `json:"domains"`
	}
	if err := json.Unmarshal(answer, &protocol); err != nil {
		t.Fatal(err)
	}
	known := knownProtocol{About: "The methods, their parameters, and the events of a Chromium. Written by go test ./relay/cdp -update.", Methods: map[string][]string{}}
	for _, domain := range protocol.Domains {
		for _, command := range domain.Commands {
			params := make([]string, 0, len(command.Parameters))
			for _, param := range command.Parameters {
				params = append(params, param.Name)
			}
			known.Methods[domain.Domain+"."+command.Name] = params
		}
		for _, event := range domain.Events {
			known.Events = append(known.Events, domain.Domain+"."+event.Name)
		}
	}
	slices.Sort(known.Events)
	return known
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, response.Status, err)
	}
	return body
}

// startChromium answers the host and port that a Chromium listens on until the test ends.
func startChromium(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium-headless-shell",
		"--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), "about:blank")
	said, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	startTogether(t, command)
	const announced = "DevTools listening on ws://"
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if _, address, found := strings.Cut(lines.Text(), announced); found {
			host, _, _ := strings.Cut(address, "/")
			return host
		}
	}
	t.Fatal("Chromium said no address")
	return ""
}

// startTogether starts a process that ends with the test, and all its children with it: they write into its folder too.
func startTogether(t *testing.T, command *exec.Cmd) {
	t.Helper()
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
}
