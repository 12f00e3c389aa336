package browse_test

import (
	"context"
	"slices"
	"testing"
	"time"
)

// What a snapshot costs follows its budget: of a long table it takes a tenth of the time that Chrome's own tree takes.
func TestALongTableCostsATenthOfChromesTree(t *testing.T) {
	const rounds, times = 3, 10
	script, site := pageScript(t), serve(t)
	tab := launch(t).page(script, site+"/long-table.html")
	ours := median(rounds, func() { tab.snapshot(map[string]any{}) })
	tree := median(rounds, func() {
		// Many megabytes: with the machine busy, that may take longer than anything else a test asks for.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if _, err := tab.Send(ctx, tab.session, "Accessibility.getFullAXTree", map[string]any{}); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("snapshot %v, getFullAXTree %v: %.0f times", ours, tree, float64(tree)/float64(ours))
	if ours*times > tree {
		t.Errorf("a snapshot takes %v, Chrome's tree %v: want a tenth", ours, tree)
	}
}

func median(rounds int, work func()) time.Duration {
	took := make([]time.Duration, rounds)
	for i := range took {
		start := time.Now()
		work()
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[rounds/2]
}
