package browse

import "strings"

// turned is the one line of a page that changed, as it was and as it is.
type turned struct{ was, is string }

// sole is the changed line, where nothing else changed.
func (d difference) sole(before page) turned {
	if len(d.lines) != 1 || len(d.gone)+len(d.lost)+len(d.far) > 0 || d.moved {
		return turned{}
	}
	ref := refIn(d.lines[0])
	for _, line := range before.lines {
		if ref != "" && refIn(line) == ref {
			return turned{was: strings.TrimLeft(unplaced(line), " "), is: d.lines[0]}
		}
	}
	return turned{}
}

// judgeAsked notes that the element of the action is as it was asked for, and that nothing else came of it: a reader who
// asked for it knows all that there is to say.
func (r *reading) judgeAsked() {
	a, said := r.job.action, r.result
	if len(said.Notices)+len(said.Said)+len(said.Dialogs)+len(said.Opened) > 0 || said.Landed != nil && !*said.Landed {
		return
	}
	wanted := ""
	switch a.Action {
	case "fill", "type":
		wanted = a.entered()
	case "select":
		wanted = strings.Join(a.Values, ", ")
	case "check":
		r.result.AsAsked = r.turned.isChecked()
		return
	case "uncheck":
		r.result.AsAsked = turned{was: r.turned.is, is: r.turned.was}.isChecked()
		return
	}
	r.result.AsAsked = wanted != "" && said.Value != nil && *said.Value == wanted && r.turned.holds(wanted)
}

// holds reports that the line says the value and says nothing else than before.
func (t turned) holds(value string) bool {
	said, ends := strings.CutSuffix(t.is, ": "+value)
	before, same := strings.CutPrefix(t.was, said)
	return ends && same && (before == "" || strings.HasPrefix(before, ": "))
}

// isChecked reports that the line says nothing else than before but that the box is checked.
func (t turned) isChecked() bool {
	for _, mark := range []string{" [checked]", " [pressed]"} {
		if strings.Contains(t.is, mark) && strings.Replace(t.is, mark, "", 1) == t.was {
			return true
		}
	}
	return false
}
