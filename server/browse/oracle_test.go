package browse_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateOracle = flag.Bool("update-oracle", false, "write testdata/oracle.txt anew; differences without a reason are put at its end")

// The oracle: on every page of the corpus each element that can be operated has the role, the name and the states that
// Chrome's own accessibility tree gives it. Differences stand in testdata/oracle.txt, each below the reason why it is right as it is.

const (
	oracleFile   = "testdata/oracle.txt"
	unexplained  = "UNEXPLAINED"
	leastAgreed  = 0.99
	leastCorpus  = 60
	oracleBudget = 8 << 20
)

func TestNamesAndRolesAgreeWithChromes(t *testing.T) {
	t.Parallel()
	script := oracleScript(t)
	server := httptest.NewServer(http.FileServer(http.Dir("testdata/corpus")))
	t.Cleanup(server.Close)
	pages, err := filepath.Glob("testdata/corpus/*.html")
	if err != nil || len(pages) < leastCorpus {
		t.Fatalf("%d pages in the corpus (%v), want %d", len(pages), err, leastCorpus)
	}
	tab := launch(t).page(script, server.URL+"/"+filepath.Base(pages[0]))
	var all tally
	for _, page := range pages {
		name := filepath.Base(page)
		tab.open(server.URL + "/" + name)
		all.compare(name, tab.ours(), tab.chromes())
	}
	all.judge(t)
}

// seen is how one side calls an element.
type seen struct{ role, name, states string }

func (s seen) isCalled(other seen) bool { return s.role == other.role && s.name == other.name }

func (s seen) String() string {
	if s.role == "" {
		return "nothing"
	}
	return fmt.Sprintf("%s %q", s.role, s.name)
}

// tally counts the elements compared and keeps the differences with how often each was met.
type tally struct {
	total, agreed int
	differences   map[string]int
}

// compare takes both sides' elements of a page, by Chrome's number of the node.
func (a *tally) compare(page string, ours, chromes map[int]seen) {
	if a.differences == nil {
		a.differences = map[string]int{}
	}
	nodes := maps.Clone(ours)
	maps.Copy(nodes, chromes)
	for node := range nodes {
		a.total++
		mine, theirs := ours[node], chromes[node]
		if !mine.isCalled(theirs) {
			a.differences[fmt.Sprintf("%s: Chrome %s, here %s", page, theirs, mine)]++
			continue
		}
		a.agreed++
		if mine.states != theirs.states {
			a.differences[fmt.Sprintf("%s: %s: Chrome [%s], here [%s]", page, mine, theirs.states, mine.states)]++
		}
	}
}

// lines are the differences as the golden file has them.
func (a *tally) lines() []string {
	lines := make([]string, 0, len(a.differences))
	for line, times := range a.differences {
		if times > 1 {
			line = fmt.Sprintf("%s (%d times)", line, times)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func (a *tally) judge(t *testing.T) {
	t.Helper()
	share := float64(a.agreed) / float64(a.total)
	t.Logf("%d of %d elements agree: %.2f %%", a.agreed, a.total, 100*share)
	known := readOracle(t)
	if *updateOracle {
		known.write(t, a.lines())
		return
	}
	if share < leastAgreed {
		t.Errorf("%.2f %% agree, want %.0f %%", 100*share, 100*leastAgreed)
	}
	for _, line := range a.lines() {
		if reason, listed := known.reasons[line]; !listed || reason == unexplained {
			t.Errorf("no reason is given for: %s", line)
		}
		delete(known.reasons, line)
	}
	for line := range known.reasons {
		t.Errorf("not so any more: %s", line)
	}
}

// oracle is the golden file: reasons in their order, and the reason of each line.
type oracle struct {
	order   []string
	reasons map[string]string
}

func readOracle(t *testing.T) oracle {
	t.Helper()
	o := oracle{reasons: map[string]string{}}
	raw, err := os.ReadFile(oracleFile)
	if err != nil && !*updateOracle {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(raw)))
	for lines.Scan() {
		line := lines.Text()
		if reason, isReason := strings.CutPrefix(line, "# "); isReason {
			o.order = append(o.order, reason)
		} else if line != "" && len(o.order) > 0 {
			o.reasons[line] = o.order[len(o.order)-1]
		}
	}
	return o
}

func (o oracle) write(t *testing.T, lines []string) {
	t.Helper()
	var out strings.Builder
	if !slices.Contains(o.order, unexplained) {
		o.order = append(o.order, unexplained)
	}
	for _, reason := range o.order {
		var mine []string
		for _, line := range lines {
			if given, listed := o.reasons[line]; given == reason || !listed && reason == unexplained {
				mine = append(mine, line)
			}
		}
		if len(mine) > 0 {
			fmt.Fprintf(&out, "# %s\n%s\n\n", reason, strings.Join(mine, "\n"))
		}
	}
	if err := os.WriteFile(oracleFile, []byte(strings.TrimSuffix(out.String(), "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}
