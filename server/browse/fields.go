package browse

import (
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// held is the page script's Value: what a field holds after something was entered.
type held struct {
	Value     *string `json:"value"`
	Secret    bool    `json:"secret"`
	Same      *bool   `json:"same"`
	Landed    *bool   `json:"landed"`
	Unchanged bool    `json:"unchanged"`
	Invalid   string  `json:"invalid"`
	Drawn     bool    `json:"drawn"`
	Moved     bool    `json:"moved"`
	Gone      bool    `json:"gone"`
}

// readValue tells what the field holds, and whether that is what was entered: one that filtered the text has not taken it.
func readValue(r *reading) error {
	var field held
	found, err := r.decode(r.job.plan.value, &field)
	if err != nil || !found {
		return err
	}
	r.result.Landed = field.Landed
	if field.Gone {
		return r.fieldGone()
	}
	if field.Value != nil {
		value := program.Clip(cleanLines(*field.Value), longestValue)
		r.result.Value = &value
	}
	if r.isLost(field) {
		return fault.New(fault.NotLanded, "What was entered did not come to the field", "Something else has the keyboard: take a snapshot.")
	}
	if field.Drawn {
		r.result.Value = nil
		r.notice("An editor draws the text of this field itself: look at the page for what it holds.")
	} else if field.Same != nil && !*field.Same {
		r.notice(field.differs(r.job.action.Action))
	}
	if field.Invalid != "" {
		r.notice("The field does not accept what it holds: see said.")
		r.say("the field", field.Invalid)
	}
	return nil
}

// fieldGone is worth saying of a field that was filled; keys may well lead elsewhere.
func (r *reading) fieldGone() error {
	var focused struct {
		Node      int  `json:"node"`
		Elsewhere bool `json:"elsewhere"`
	}
	found, err := r.decode(r.job.plan.focus, &focused)
	switch {
	case err != nil || !found:
		return err
	case r.job.action.Action != "press" && focused.Node != 0 && (r.result.Landed == nil || !*r.result.Landed):
		r.notice("The field is no longer on the page after this was entered: take a snapshot.")
	case r.job.action.Action == "type" && focused.Node == 0:
		r.notice("No field had the keyboard: what was typed went to the page itself.")
	}
	return nil
}

// isLost reports that nothing was seen of what was entered at the element that was named, and that nothing came of it.
func (r *reading) isLost(field held) bool {
	entered := r.job.action.Action == "fill" || r.job.action.Action == "type"
	return entered && r.job.about.node != 0 && field.Landed != nil && !*field.Landed && field.Unchanged &&
		(field.Same == nil || !*field.Same)
}

func (h held) differs(action string) string {
	what := "The field holds something else than what was entered"
	if action == "type" {
		what = "The field does not hold what was typed"
	}
	if h.Moved {
		what += ", and the keyboard has moved to another field"
	}
	if h.Secret {
		return what + "."
	}
	return what + ": see value."
}

// readToggled tells a box that did not take the press: it is not what was asked for.
func readToggled(r *reading) error {
	var before struct {
		Press *struct{} `json:"press"`
	}
	var now struct {
		State string `json:"state"`
		Gone  bool   `json:"gone"`
	}
	found, err := r.decode(r.job.plan.toggled, &now)
	if err != nil || !found {
		return err
	}
	if _, err := r.decode(r.job.plan.toggling, &before); err != nil {
		return err
	}
	wanted := map[string]string{"check": "true", "uncheck": "false"}[r.job.action.Action]
	switch {
	case now.Gone:
		r.notice("The element is no longer on the page: take a snapshot to see how it stands.")
	case now.State != wanted:
		return fault.New(fault.NotLanded, "The element was pressed, but it is "+stateWord(now.State), "The page may have refused: take a snapshot.")
	case before.Press == nil:
		r.notice("It was " + stateWord(now.State) + " already; nothing was pressed.")
	}
	return nil
}

func stateWord(state string) string {
	switch state {
	case "true":
		return "checked"
	case "mixed":
		return "checked in part"
	}
	return "not checked"
}

// readSelected tells what a list has selected now.
func readSelected(r *reading) error {
	var native struct {
		Values []string `json:"values"`
		Done   bool     `json:"done"`
	}
	found, err := r.decode(r.job.plan.selected, &native)
	if err != nil || !found {
		return err
	}
	values := native.Values
	if native.Done {
		r.result.Landed = &native.Done
	}
	if values, err = r.readKept(values); err != nil {
		return err
	}
	for _, step := range r.job.plan.chosen {
		names, err := r.readChosen(step)
		if err != nil {
			return err
		}
		values = append(values, names...)
	}
	for i, value := range values[:min(len(values), mostListed)] {
		values[i] = short(value, longestName)
	}
	value := strings.Join(values[:min(len(values), mostListed)], ", ")
	if len(values) > 0 || native.Done {
		r.result.Value = &value
	}
	return nil
}

// readKept is what stands there once the page knows of what was set: it has the last word.
func (r *reading) readKept(set []string) ([]string, error) {
	var now struct {
		Values []string `json:"values"`
		Shown  bool     `json:"shown"`
		Gone   bool     `json:"gone"`
	}
	found, err := r.decode(r.job.plan.kept, &now)
	switch {
	case err != nil || !found:
		return set, err
	case now.Gone && !r.settled.Navigated:
		r.notice("The list is no longer on the page after this was chosen: take a snapshot.")
		return set, nil
	case now.Gone:
		return set, nil
	case !now.Shown:
		r.notice("It was chosen, but the page has something else chosen now: see value.")
	}
	return now.Values, nil
}

// readChosen reads what became of one option of a list that the page made.
func (r *reading) readChosen(step int) ([]string, error) {
	var one struct {
		Values []string `json:"values"`
		Shown  bool     `json:"shown"`
		Landed bool     `json:"landed"`
	}
	found, err := r.decode(step, &one)
	if err != nil || !found {
		return nil, err
	}
	r.result.Landed = &one.Landed
	if !one.Shown {
		r.notice("The option was pressed, but it could not be seen that it is chosen: look at the page.")
	}
	return one.Values, nil
}
