package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// house says for each package which of ours it may import; a package without a line fails the test.
var house = map[string][]string{
	"cmd/chaperone":       {"server", "server/chrome", "server/fault", "server/browse", "egress", "packager", "demo"},
	"demo":                {"server", "server/chrome", "packager", "relay/cdp"},
	"server":              {"server/*", "relay", "relay/cdp", "relay/endpoint", "relay/program", "egress", "packager"},
	"server/account":      {"server/fault", "server/ledger", "server/store"},
	"server/artifact":     {"server/account", "server/fault", "server/store"},
	"server/browse":       {"server/fault", "relay/program", "relay/cdp", "egress"},
	"server/chrome":       {"server/fault", "relay/cdp", "relay/endpoint", "relay/program"},
	"server/fault":        {},
	"server/ledger":       {"server/fault", "server/store"},
	"server/live":         {"relay/program"},
	"server/mcp":          {"server/account", "server/browse", "server/fault", "server/project", "server/session"},
	"server/project":      {"server/account", "server/fault", "server/ledger", "server/store"},
	"server/session":      {"server/account", "server/artifact", "server/browse", "server/fault", "server/ledger", "server/live", "server/project", "server/store", "relay/cdp", "relay/endpoint", "relay/program", "egress"},
	"server/store":        {"server/fault"},
	"server/web":          {"server/account", "server/artifact", "server/browse", "server/fault", "server/ledger", "server/live", "server/project", "server/session", "relay", "relay/program"},
	"relay":               {"relay/cdp", "relay/endpoint", "relay/program"},
	"relay/cdp":           {},
	"relay/endpoint":      {"relay/cdp", "relay/program"},
	"relay/program":       {"relay/cdp"},
	"egress":              {},
	"packager":            {},
	"packager/bundle":     {"packager"},
	"packager/cmd/bundle": {"packager", "packager/bundle"},
	"extension":           {},
	"e2e":                 {},
	"e2e/egress":          {},
}

// homes says which of our packages may use a third-party library.
var homes = map[string][]string{
	"github.com/gin-gonic/gin":                   {"server/web"},
	"github.com/mattn/go-sqlite3":                {"server/store"},
	"github.com/golang-jwt/jwt":                  {"server/account"},
	"github.com/evanw/esbuild":                   {"packager/bundle", "packager/cmd/bundle"},
	"github.com/modelcontextprotocol/go-sdk":     {"server/mcp"},
	"github.com/spf13/cobra":                     {"cmd/chaperone"},
	"code.dny.dev/ssrf":                          {"egress"},
	"github.com/coder/websocket":                 {"relay", "relay/endpoint", "server/web"},
	"github.com/chromedp/cdproto":                {"server/chrome"},
	"github.com/prometheus/client_golang":        {"egress", "server/web", "server", "cmd/chaperone"},
	"database/sql":                               {"server/store"},
	"github.com/rogpeppe/go-internal/testscript": {},
}

type listed struct {
	ImportPath string
	Name       string
	Imports    []string
}

func TestPackagesImportOnlyWhatTheHousePermits(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, "chaperone/")
		permitted, ok := house[name]
		if !ok {
			t.Errorf("package %s has no line in the house: say what it may import", name)
			continue
		}
		for _, imported := range p.Imports {
			checkOwn(t, name, imported, permitted)
			checkHome(t, name, imported)
		}
	}
}

func checkOwn(t *testing.T, name, imported string, permitted []string) {
	t.Helper()
	own, ok := strings.CutPrefix(imported, "chaperone/")
	if !ok {
		return
	}
	for _, p := range permitted {
		if own == p || (strings.HasSuffix(p, "/*") && strings.HasPrefix(own, strings.TrimSuffix(p, "*"))) {
			return
		}
	}
	t.Errorf("%s imports %s, which the house does not permit", name, own)
}

func checkHome(t *testing.T, name, imported string) {
	t.Helper()
	for library, rooms := range homes {
		if imported != library && !strings.HasPrefix(imported, library+"/") {
			continue
		}
		if !slices.Contains(rooms, name) {
			t.Errorf("%s uses %s, whose home is %v", name, library, rooms)
		}
	}
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Name,Imports", "chaperone/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decode the list of packages: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages were listed", len(all))
	}
	return all
}
