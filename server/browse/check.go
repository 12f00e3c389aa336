package browse

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"chaperone/server/fault"
)

// check refuses an action that says too little or contradicts itself, before anything runs.
func (a Action) check() error {
	switch a.Snapshot {
	case "", "auto", "full", "none":
	default:
		return missing("snapshot is auto, full or none")
	}
	if err := a.checkNumbers(); err != nil {
		return err
	}
	if a.Ref != "" && !isRef(a.Ref) || a.Scope != "" && !isRef(a.Scope) || a.To != "" && !isRef(a.To) {
		return missing("a ref looks like e12")
	}
	if a.namesByHalf() {
		return missing(a.Action + " takes both role and name, or ref")
	}
	return a.checkNeeds()
}

// maxNth is more than any page has of one role and name.
const maxNth = 100_000

func (a Action) checkNumbers() error {
	most, pause := int(maxTimeout.Milliseconds()), int(maxPause.Milliseconds())
	switch {
	case a.TimeoutMS < 0 || a.MS < 0 || a.Nth != nil && *a.Nth < 0:
		return missing("timeout_ms, ms and nth are not negative")
	case a.TimeoutMS > most:
		return missing(fmt.Sprintf("timeout_ms is at most %d", most))
	case a.MS > pause:
		return missing(fmt.Sprintf("ms is at most %d", pause))
	case a.TimeoutMS > 0 && a.MS > a.TimeoutMS && a.Action == "wait":
		return missing("ms is no longer than timeout_ms")
	case a.Nth != nil && *a.Nth > maxNth:
		return missing(fmt.Sprintf("nth is at most %d", maxNth))
	}
	return nil
}

func (a Action) checkNeeds() error {
	switch a.Action {
	case "open":
		return needs("open needs url", a.URL != "")
	case "click":
		return a.checkClick()
	case "hover", "drag", "dialog", "eval", "upload", "download":
		return a.checkPointer()
	case "fill", "select", "check", "uncheck", "type", "press":
		return a.checkInput()
	case "scroll":
		return a.checkScroll()
	case "wait":
		return a.checkWait()
	case "select_tab":
		return needs("select_tab needs tab", a.Tab != "")
	case "snapshot":
		return needs("snapshot takes scope, or what to look for (role, name, text), not both", a.Scope == "" || !a.wanted().any())
	}
	return nil
}

func (a Action) checkInput() error {
	switch a.Action {
	case "select":
		return needs("select needs ref, or role and name, and values", a.names(), len(a.Values) > 0)
	case "type":
		return needs("type needs text", a.text() != "")
	case "press":
		_, err := strokes(a.Keys)
		return err
	case "fill":
		return needs("fill needs ref, or role and name, and text, which may be empty", a.names(), a.Text != nil)
	}
	return needs(a.Action+" needs ref, or role and name", a.names())
}

func (a Action) checkScroll() error {
	switch a.Direction {
	case "up", "down", "top", "bottom":
		return nil
	case "":
		return needs("scroll needs direction (up, down, top, bottom) or ref", a.names())
	}
	return missing("direction is up, down, top or bottom")
}

func (a Action) checkWait() error {
	wishes := 0
	for _, wished := range []bool{a.MS > 0, a.text() != "", a.URLGlob != "", a.Idle} {
		if wished {
			wishes++
		}
	}
	return needs("wait needs one of ms, text, url_glob and idle", wishes == 1)
}

// namesByHalf reports that the action says something of an element, and too little to find it: it would be done elsewhere.
func (a Action) namesByHalf() bool {
	aimed := []string{"type", "press", "scroll", "get_text", "eval"} // the others are not done without an element
	return slices.Contains(aimed, a.Action) && a.Ref == "" && (a.Role == "") != (a.Name == "")
}

// names reports whether the action names an element.
func (a Action) names() bool { return a.Ref != "" || a.Role != "" && a.Name != "" }

// needs refuses with what is wanted unless all of it is there.
func needs(what string, there ...bool) error {
	if slices.Contains(there, false) {
		return missing(what)
	}
	return nil
}

func missing(what string) error {
	return fault.New(fault.BadRequest, "The action does not hold: "+what, "Correct it and send it again.")
}

func isRef(s string) bool { return regexp.MustCompile(`^e[1-9][0-9]{0,8}$`).MatchString(s) }

func quote(s string) string {
	const most = 80
	if len(s) > most {
		s = fmt.Sprintf("%s… (%d characters)", s[:most], len(s))
	}
	return strconv.QuoteToASCII(s)
}
