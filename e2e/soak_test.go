package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"chaperone/demo"
)

// load is how much a soak does: all of it with CHAPERONE_SOAK=full, little enough for every day otherwise.
type load struct{ agents, tabs, cycles, clients int }

func isFullSoak() bool { return os.Getenv("CHAPERONE_SOAK") == "full" }

func loadOf() load {
	if isFullSoak() {
		return load{agents: 32, tabs: 200, cycles: 10_000, clients: 32}
	}
	return load{agents: 5, tabs: 4, cycles: 200, clients: 5}
}

// soak is one browser with many sessions of an interactive project, each on a tab of its own.
type soak struct {
	*road
	load
	sessions []string
	worker   *demo.Page
}

// startSoak starts all but `spare` of the sessions that a link has room for.
func startSoak(t *testing.T, spare int) *soak {
	t.Helper()
	s := openSite(t)
	routes := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			s.page(w, `<title>Loop</title><h1>Loop</h1><script>onload = () => setTimeout(() => { for (;;); }, 1500)</script>`)
		case "/flood":
			s.page(w, `<title>Flood</title><h1>Flood</h1><script>setInterval(() => { for (let i = 0; i < 200; i++) console.log('flood', i, {deep: [i]}); fetch('/second?' + Math.random()) }, 10)</script>`)
		default:
			routes.ServeHTTP(w, r)
		}
	})
	k := &soak{road: &road{site: s, served: serve(t, "--max-sessions", "64", "--sessions-per-project", "64", "--idle-timeout", "24h")}, load: loadOf()}
	k.policy("interactive")
	k.person = arrive(t, demo.PersonOptions{})
	check(t, k.person.Pair(t.Context(), k.code()))
	k.awaitLink(0)
	var err error
	k.worker, err = k.person.Worker(t.Context())
	check(t, err)
	for range k.tabs {
		_, err := k.person.Browser().Call(t.Context(), "", "Target.createTarget", map[string]any{"url": s.URL + "/second", "background": true})
		check(t, err)
	}
	for range k.agents - spare {
		k.sessions = append(k.sessions, k.opened("/"))
	}
	return k
}

// opened is a session on a tab that it made.
func (k *soak) opened(path string) string {
	k.t.Helper()
	session := k.served.session("shared")
	k.act(session, action{"action": "open", "url": k.site.URL + path})
	return session
}

func (k *soak) close(session string) {
	k.t.Helper()
	k.ask(http.MethodDelete, "/sessions/"+session, nil, nil)
}

// pace is the median time of a click in some of the sessions, one after the other.
func (k *soak) pace(sessions []string) time.Duration {
	k.t.Helper()
	const rounds, some = 5, 6
	sessions = sessions[:min(some, len(sessions))]
	took := make([]time.Duration, 0, rounds*len(sessions))
	for range rounds {
		for _, session := range sessions {
			began := time.Now()
			k.act(session, action{"action": "click", "role": "button", "name": "Count"})
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// TestSoakManyAtOnceWithOneThatLoopsAndOneThatFloods has each of many keep its pace beside two tabs that misbehave.
func TestSoakManyAtOnceWithOneThatLoopsAndOneThatFloods(t *testing.T) {
	k := startSoak(t, 0)
	loops, floods, others := k.sessions[0], k.sessions[1], k.sessions[2:]
	before := k.pace(others)
	deaf := speak(t, k.openCDP(floods).WS) // a client that asks to be told all, and then never reads
	_, tab := deaf.page()
	for _, domain := range []string{"Runtime.enable", "Network.enable", "Log.enable"} {
		deaf.must(tab, domain, struct{}{}, nil)
	}
	_, err := k.agent.Act(t.Context(), floods, action{"action": "open", "url": k.site.URL + "/flood"})
	if refusal := asRefused(err); err != nil && (refusal == nil || !slices.Contains([]string{"tab_suspended", "unavailable"}, refusal.Code)) {
		t.Errorf("the action in the flooding tab is answered %v", err) // a tab that tells too much is let go
	}
	_, err = k.agent.Act(t.Context(), loops, action{"action": "open", "url": k.site.URL + "/loop", "timeout_ms": 5000})
	if refusal := asRefused(err); err != nil && (refusal == nil || refusal.Code != "timeout") {
		t.Errorf("the action in the looping tab is answered %v", err) // it may hang before it has settled
	}
	k.stuck(loops)
	after := k.pace(others)
	t.Logf("a click takes %s, and %s beside the two", before, after)
	if bound := 6*before + 300*time.Millisecond; after > bound {
		t.Errorf("a click took %s and takes %s beside a loop and a flood, want at most %s", before, after, bound)
	}
	k.close(loops)
	k.close(floods)
	k.pace(others)
}

// stuck waits until a tab's page answers nothing any more.
func (k *soak) stuck(session string) {
	k.t.Helper()
	k.await(func() bool {
		_, err := k.agent.Act(k.t.Context(), session, action{"action": "snapshot", "timeout_ms": 700})
		return err != nil
	}, "the looping page to answer nothing")
}

// TestSoakManyClientsWithOneThatNeverReadsAndOneThatAsksTooMuch has CDP clients of different sessions side by side.
func TestSoakManyClientsWithOneThatNeverReadsAndOneThatAsksTooMuch(t *testing.T) {
	k := startSoak(t, 0)
	type client struct {
		*speaker
		tab string
	}
	clients := make([]client, 0, k.clients)
	for i := range k.clients {
		c := client{speaker: speak(t, k.openCDP(k.sessions[i%len(k.sessions)]).WS)}
		_, c.tab = c.page()
		c.must(c.tab, "Runtime.enable", struct{}{}, nil)
		clients = append(clients, c)
	}
	deaf, greedy, others := clients[0], clients[1], clients[2:]
	deaf.must(deaf.tab, "Runtime.evaluate", evaluate(`setInterval(() => { for (let i = 0; i < 50; i++) console.log('x'.repeat(2000), i) }, 20); 1`), nil)
	var group sync.WaitGroup
	for i, c := range others {
		group.Go(func() {
			for n := range 50 {
				want := strconv.Itoa(i*1000 + n)
				answer, err := c.try(c.tab, "Runtime.evaluate", evaluate(want))
				if err != nil || answer.Error != nil || !strings.Contains(string(answer.Result), want) {
					t.Errorf("client %d asked for %s and is answered %s, %v, %v", i, want, answer.Result, answer.Error, err)
					return
				}
			}
		})
	}
	greedy.refused(greedy.tab, "Runtime.evaluate", evaluate(`'x'.repeat(20 << 20)`))
	if got := greedy.eval(greedy.tab, "6*7"); got != "42" {
		t.Errorf("after an answer that was too large the client is told %s", got)
	}
	group.Wait()
}

// levels are what a server and a worker hold.
type levels struct {
	files, threads, serverKB int
	workerBytes              float64
}

func (k *soak) levels() levels {
	k.t.Helper()
	var l levels
	pid := strconv.Itoa(k.info.PID)
	files, err := os.ReadDir(filepath.Join("/proc", pid, "fd"))
	check(k.t, err)
	l.files = len(files)
	status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	check(k.t, err)
	for line := range strings.Lines(string(status)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &l.serverKB)
		_, _ = fmt.Sscanf(line, "Threads: %d", &l.threads)
	}
	_, err = k.worker.Call(k.t.Context(), "HeapProfiler.collectGarbage", struct{}{})
	check(k.t, err)
	raw, err := k.worker.Call(k.t.Context(), "Runtime.getHeapUsage", struct{}{})
	check(k.t, err)
	var heap struct{ UsedSize float64 }
	decodeJSON(k.t, string(raw), &heap)
	l.workerBytes = heap.UsedSize
	return l
}

// TestSoakOpeningAndClosingLeavesNothing opens and closes sessions with their tabs, and wants everything to be as it was.
func TestSoakOpeningAndClosingLeavesNothing(t *testing.T) {
	const atOnce = 2
	k := startSoak(t, atOnce)
	k.cycle(max(k.cycles/10, 20), atOnce) // what is made once is made by now
	before := k.levels()
	const parts = 10
	after := before
	for i := range parts {
		k.cycle(k.cycles/parts, atOnce)
		after = k.levels()
		t.Logf("after %d of %d: %+v", (i+1)*k.cycles/parts, k.cycles, after)
	}
	t.Logf("before %+v, after %+v", before, after)
	if after.files > before.files+8 {
		t.Errorf("the server had %d files open and has %d", before.files, after.files)
	}
	if after.threads > before.threads+16 {
		t.Errorf("the server had %d threads and has %d", before.threads, after.threads)
	}
	if after.serverKB > before.serverKB*3/2+64<<10 {
		t.Errorf("the server held %d KiB and holds %d", before.serverKB, after.serverKB)
	}
	if after.workerBytes > before.workerBytes*1.5+2<<20 {
		t.Errorf("the worker held %.0f bytes and holds %.0f", before.workerBytes, after.workerBytes)
	}
	if connected, tabs := k.linked(); !connected || tabs != len(k.sessions) {
		t.Errorf("connected %t with %d tabs, want the %d that are still in use", connected, tabs, len(k.sessions))
	}
}

// cycle opens and closes sessions, some at a time.
func (k *soak) cycle(times, atOnce int) {
	k.t.Helper()
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for range times / atOnce {
				if err := k.openAndClose(); err != nil {
					k.t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func (k *soak) openAndClose() error {
	ctx := k.t.Context()
	session, err := k.agent.Session(ctx, "shared")
	if err != nil {
		return err
	}
	if _, err := k.agent.Act(ctx, session, action{"action": "open", "url": k.site.URL + "/second"}); err != nil {
		return err
	}
	return k.agent.Ask(ctx, http.MethodDelete, "/sessions/"+session, nil, nil)
}
