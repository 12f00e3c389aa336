package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"chaperone/demo"
	"chaperone/server"
	"chaperone/server/chrome"
)

// BenchmarkPeers lets Chaperone and its peers do the same things on the same pages in the same Chromium, one after the
// other, and prints how long each took, how many characters an operator read to get through a flow, and how that stands
// to the goals. With -short it takes fewer rounds.
func BenchmarkPeers(b *testing.B) {
	site := httptest.NewServer(http.FileServer(http.Dir("testdata/bench")))
	b.Cleanup(site.Close)
	all := &measured{site: site.URL, took: map[string]map[cell]time.Duration{}, read: map[string]map[string]int{}}
	for _, p := range peers() {
		b.Run(strings.ReplaceAll(p.name, " ", "-"), func(b *testing.B) {
			h := &host{site: site.URL, folder: benchFolder(b)}
			version, t := p.open(b, h)
			all.peers = append(all.peers, p.name)
			all.versions = append(all.versions, p.name+" "+version)
			all.time(b, p, t)
			for flow := range flows {
				if p.isRead {
					all.note(p.name, flows[flow].page, walk(b, t, site.URL, flow))
				}
			}
			b.ReportMetric(0, "ns/op")
		})
	}
	all.print(os.Stdout)
	all.judge(b, os.Stdout)
}

// peer is one that is measured; isRead says that a model reads its answers as they are.
type peer struct {
	name   string
	isRead bool
	open   func(b *testing.B, h *host) (version string, t tool)
}

const (
	bareName   = "raw CDP"
	apiName    = "chaperone HTTP"
	wordsName  = "chaperone CLI"
	stdioName  = "chaperone MCP"
	agentName  = "agent-browser"
	wrightName = "@playwright/mcp"
	toolsName  = "chrome-devtools-mcp"
)

func peers() []peer {
	return []peer{
		{name: bareName, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			browser, _ := h.browser(b)
			return browser.Version(), openRawCDP(b, browser)
		}},
		{name: apiName, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			s := h.serve(b)
			return "of this tree", overHTTP{server: s, session: s.session(b)}
		}},
		{name: wordsName, isRead: true, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			s := h.serve(b)
			return "of this tree", commandLine{
				path: s.binary, folder: h.folder, env: s.env(), words: chaperoneWords(s.session(b), h.folder),
			}
		}},
		{name: stdioName, isRead: true, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			s := h.serve(b)
			cmd := exec.CommandContext(context.Background(), s.binary, "mcp", "--backend", "managed")
			cmd.Env = append(os.Environ(), s.env()...)
			return "of this tree", mcpTool{client: startMCP(b, cmd), calls: chaperoneCalls}
		}},
		{name: agentName, isRead: true, open: openAgentBrowser},
		{name: wrightName, isRead: true, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			_, ws := h.browser(b)
			cmd := node(context.Background(), h.folder, module("@playwright", "mcp", "cli.js"), "--cdp-endpoint", ws, "--output-dir", h.folder)
			return pinned(b)[wrightName], filed{mcpTool{client: startMCP(b, cmd), calls: playwrightCalls}, h.folder}
		}},
		{name: toolsName, isRead: true, open: func(b *testing.B, h *host) (string, tool) {
			b.Helper()
			_, ws := h.browser(b)
			cmd := node(context.Background(), h.folder, module("chrome-devtools-mcp", "build", "src", "bin", "chrome-devtools-mcp.js"),
				"--wsEndpoint", ws, "--usageStatistics=false", "--performanceCrux=false")
			client := startMCP(b, cmd)
			var page int
			if _, err := fmt.Sscanf(afterHeading(client.call(b, "list_pages", action{})), "%d:", &page); err != nil {
				b.Fatal(err)
			}
			return pinned(b)[toolsName], opened{mcpTool{client: client, calls: devtoolsCalls(page)}}
		}},
	}
}

// afterHeading is what stands below the first line.
func afterHeading(answer string) string {
	_, rest, _ := strings.Cut(answer, "\n")
	return rest
}

func openAgentBrowser(b *testing.B, h *host) (string, tool) {
	b.Helper()
	_, ws := h.browser(b)
	binary := module(agentName, "bin", "agent-browser-linux-x64")
	must(b, os.Chmod(binary, 0o755)) // its package leaves that to an install script
	t := commandLine{path: binary, folder: h.folder, words: agentBrowserWords(h.folder), env: []string{
		"HOME=" + h.folder, "AGENT_BROWSER_SOCKET_DIR=" + h.folder, "AGENT_BROWSER_IDLE_TIMEOUT=5m",
	}}
	run := func(words ...string) error {
		cmd := exec.CommandContext(context.Background(), binary, words...)
		cmd.Env, cmd.Dir = append(os.Environ(), t.env...), h.folder
		return cmd.Run()
	}
	must(b, run("connect", ws))
	b.Cleanup(func() { must(b, run("close")) })
	return pinned(b)[agentName], t
}

// host has what peers need to begin: a site, a folder, a browser or a server.
type host struct{ site, folder string }

// benchFolder is a folder with a path short enough for sockets.
func benchFolder(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "bench-") //nolint:usetesting // b.TempDir names the bench, and that is too long for sockets
	must(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// browser starts a browser that also listens to CDP clients, and answers where.
func (h *host) browser(b *testing.B) (*chrome.Plain, string) {
	b.Helper()
	profile := filepath.Join(h.folder, "profile")
	browser, err := chrome.StartPlain(b.Context(), chrome.PlainOptions{
		Profile: profile, Flags: []string{"--remote-debugging-port=0", "about:blank"},
	})
	must(b, err)
	b.Cleanup(func() { _ = browser.Close() })
	for {
		raw, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		if port, path, isWhole := strings.Cut(strings.TrimSpace(string(raw)), "\n"); err == nil && isWhole {
			return browser, "ws://127.0.0.1:" + port + path
		}
		if b.Context().Err() != nil {
			b.Fatal("the browser does not listen")
		}
		<-time.After(5 * time.Millisecond)
	}
}

// benchServer is a server built as it is shipped, without the race detector.
type benchServer struct {
	binary, data string
	agent        *demo.Agent
}

func (h *host) serve(b *testing.B) *benchServer {
	b.Helper()
	s := &benchServer{binary: filepath.Join(h.folder, "chaperone"), data: filepath.Join(h.folder, "data")}
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", s.binary, "chaperone/cmd/chaperone").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(context.Background(), s.binary,
		"serve", "--addr", "127.0.0.1:0", "--data", s.data, "--test-origin", h.site)
	must(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		must(b, cmd.Wait())
	})
	for {
		if info, err := server.ReadInfo(s.data); err == nil && info.PID == cmd.Process.Pid {
			break
		}
		<-time.After(5 * time.Millisecond)
	}
	var err error
	s.agent, err = demo.NewAgent(s.data)
	must(b, err)
	must(b, s.agent.Ask(b.Context(), http.MethodPatch, "/projects/default", action{"policy": "interactive"}, nil))
	return s
}

func (s *benchServer) session(b *testing.B) string {
	b.Helper()
	id, err := s.agent.Session(b.Context(), "managed")
	must(b, err)
	return id
}

func (s *benchServer) env() []string { return []string{"CHAPERONE_DATA=" + s.data} }
