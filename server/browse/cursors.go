package browse

import (
	"slices"
	"strconv"

	"chaperone/server/fault"
)

// rest is where an answer that was cut goes on: a snapshot with the view of it, a text as it was read.
type rest struct {
	tab  string
	view view
	text *remainder
}

// cursors are a session's cut answers by the names that were given out for where they go on. One may be used again, and then
// answers the same part again. Only the newest are kept.
type cursors struct {
	last int
	kept map[string]rest
	old  []string // names, the oldest first
}

// mostCursors is how many cut answers a session can go on with.
const mostCursors = 16

func newCursors() *cursors { return &cursors{kept: map[string]rest{}} }

func (c *cursors) keep(r rest) string {
	c.last++
	name := "c" + strconv.Itoa(c.last)
	c.kept[name] = r
	c.old = append(c.old, name)
	for len(c.old) > mostCursors {
		delete(c.kept, c.old[0])
		c.old = slices.Delete(c.old, 0, 1)
	}
	return name
}

func (c *cursors) take(name, tab string) (rest, error) {
	kept, known := c.kept[name]
	switch {
	case !known:
		return rest{}, fault.New(fault.BadRequest, "The cursor is not one that was given out, or an old one", "Leave it away to start anew.")
	case kept.tab != tab:
		return rest{}, fault.New(fault.BadRequest, "The cursor belongs to tab "+kept.tab, "Use select_tab first.")
	}
	return kept, nil
}
