package e2e_test

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// cell is one thing that was timed on one page.
type cell struct{ page, work string }

const (
	workOpen    = "open, shown"
	workLook    = "snapshot"
	workIdle    = "click on what does nothing, snapshot"
	workClick   = "click on what changes the page, snapshot"
	workText    = "text"
	workPicture = "screenshot"
	workTree    = "getFullAXTree"
	tablePage   = "table.html"
)

func works() []string {
	return []string{workOpen, workLook, workIdle, workClick, workText, workPicture}
}

// measured is what came of a run.
type measured struct {
	site     string
	peers    []string
	versions []string
	took     map[string]map[cell]time.Duration
	read     map[string]map[string]int // characters, by page
}

func (m *measured) note(peer, page string, characters int) {
	if m.read[peer] == nil {
		m.read[peer] = map[string]int{}
	}
	m.read[peer][page] = characters
}

// time does everything on every page, and keeps the medians.
func (m *measured) time(b *testing.B, p peer, t tool) {
	b.Helper()
	rounds := max(b.N, 5)
	if testing.Short() {
		rounds = 3
	}
	took := map[cell]time.Duration{}
	m.took[p.name] = took
	for _, flow := range flows {
		last := ""
		repeat := func(work string, next func() move) {
			each := make([]time.Duration, rounds)
			for i := range each {
				move := next()
				each[i] = timed(func() { last = t.do(b, move) })
			}
			took[cell{flow.page, work}] = median(each)
		}
		open := move{verb: "open", value: m.site + "/" + flow.page, look: true}
		last = t.do(b, open) // all that is made once is there now
		repeat(workOpen, func() move { return open })
		repeat(workLook, func() move { return move{verb: "snapshot"} })
		repeat(workIdle, press(b, t, &last, "Idle"))
		last = t.do(b, move{verb: "snapshot"})
		repeat(workClick, press(b, t, &last, "Count"))
		repeat(workText, func() move { return move{verb: "text"} })
		repeat(workPicture, func() move { return move{verb: "screenshot"} })
		if p.name == bareName && flow.page == tablePage {
			repeat(workTree, func() move { return move{verb: "tree"} })
		}
	}
}

// press is a click on a button by the newest ref that it was shown with.
func press(b *testing.B, t tool, last *string, name string) func() move {
	b.Helper()
	ref := ""
	return func() move {
		b.Helper()
		if bare, isBare := t.(*rawCDP); isBare && ref == "" {
			ref = bare.find(b, name)
		} else if newest, ok := refIn(strings.ReplaceAll(*last, `\"`, `"`), "", "button", name); ok {
			ref = newest
		}
		if ref == "" {
			b.Fatalf("no button %q in\n%s", name, *last)
		}
		return move{verb: "click", ref: ref, look: true}
	}
}

func (m *measured) print(to io.Writer) {
	_, _ = fmt.Fprintf(to, "\nVersions: %s\nLoad: %s\n\n", strings.Join(m.versions, ", "), loadAverage())
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(cells ...string) { _, _ = fmt.Fprintln(out, strings.Join(cells, "\t")) }
	row(append([]string{"milliseconds (median)", ""}, m.peers...)...)
	for _, flow := range flows {
		for _, work := range works() {
			row(append([]string{flow.page, work}, m.each(func(peer string) string {
				return fmt.Sprintf("%.1f", ms(m.took[peer][cell{flow.page, work}]))
			})...)...)
		}
	}
	if tree, isTimed := m.took[bareName][cell{tablePage, workTree}]; isTimed {
		row(tablePage, workTree, fmt.Sprintf("%.1f", ms(tree)))
	}
	row("")
	row(append([]string{"characters of the flow", ""}, m.peers...)...)
	for _, flow := range flows {
		row(append([]string{flow.page, ""}, m.each(func(peer string) string {
			if n, isRead := m.read[peer][flow.page]; isRead {
				return strconv.Itoa(n)
			}
			return "-"
		})...)...)
	}
	_ = out.Flush()
}

func (m *measured) each(say func(peer string) string) []string {
	all := make([]string, len(m.peers))
	for i, peer := range m.peers {
		all[i] = say(peer)
	}
	return all
}

// loadAverage tells how busy the machine was, where it tells.
func loadAverage() string {
	raw, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(raw))
}

// goal is how many times of another's time, or characters, may be taken at most. The bench fails where one that must hold does not.
type goal struct {
	says string
	most float64
	must bool
	is   func(m *measured) (worst float64, where string)
}

func goals() []goal {
	least := []string{agentName, wrightName, toolsName}
	all := make([]goal, 0, len(works())+8)
	for _, work := range works() {
		if work != workClick { // what the page changes is waited for, and that is not in the bare calls
			all = append(all, goal{says: work + ", of bare CDP's", most: 1.3, is: slowest(apiName, bareName, work)})
		}
	}
	return append(all,
		goal{says: "click and snapshot, of agent-browser's", most: 1, is: slowest(apiName, agentName, workClick)},
		goal{says: "click and snapshot by command line, of agent-browser's", most: 1, is: slowest(wordsName, agentName, workClick)},
		goal{says: "click and snapshot over stdio, of @playwright/mcp's", most: 0.25, must: true, is: slowest(stdioName, wrightName, workClick)},
		goal{says: "click and snapshot over stdio, of chrome-devtools-mcp's", most: 0.25, is: slowest(stdioName, toolsName, workClick)},
		goal{says: "snapshot, of agent-browser's", most: 1.0 / 3, is: slowest(apiName, agentName, workLook)},
		goal{says: "text, of agent-browser's", most: 1.0 / 3, is: slowest(apiName, agentName, workText)},
		goal{says: "snapshot of 2,000 rows, of getFullAXTree", most: 0.1, is: func(m *measured) (float64, string) {
			return ratio(m.took[apiName][cell{tablePage, workLook}], m.took[bareName][cell{tablePage, workTree}]), tablePage
		}},
		goal{says: "characters of a flow over MCP, of the best peer's", most: 0.5, is: func(m *measured) (float64, string) {
			return worst(func(page string) float64 {
				best := math.MaxInt
				for _, peer := range least {
					if n, isRead := m.read[peer][page]; isRead {
						best = min(best, n)
					}
				}
				return float64(m.read[stdioName][page]) / float64(best)
			})
		}},
	)
}

func slowest(one, other, work string) func(m *measured) (float64, string) {
	return func(m *measured) (float64, string) {
		return worst(func(page string) float64 {
			return ratio(m.took[one][cell{page, work}], m.took[other][cell{page, work}])
		})
	}
}

func ratio(one, other time.Duration) float64 { return float64(one) / float64(other) }

// worst is the greatest of the pages' figures.
func worst(of func(page string) float64) (float64, string) {
	most, where := 0.0, ""
	for _, flow := range flows {
		if f := of(flow.page); f > most {
			most, where = f, flow.page
		}
	}
	return most, where
}

// judge prints how the run stands to the goals, as far as everybody took part.
func (m *measured) judge(b *testing.B, to io.Writer) {
	b.Helper()
	if len(m.peers) < len(peers()) {
		return
	}
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "\ngoal\tat most\tis\tworst on\t")
	for _, g := range goals() {
		is, where := g.is(m)
		verdict := "met"
		if is > g.most {
			verdict = "not met"
		}
		_, _ = fmt.Fprintf(out, "%s\t%.2f\t%.2f\t%s\t%s\n", g.says, g.most, is, where, verdict)
		if g.must && is > g.most {
			b.Errorf("%s: %.2f on %s, at most %.2f", g.says, is, where, g.most)
		}
	}
	_ = out.Flush()
}
