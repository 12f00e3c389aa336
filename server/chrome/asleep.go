package chrome

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"chaperone/relay/program"
)

// asleep is a tab that a profile remembers and nobody has used yet. Chrome knows nothing of it: fifty of them cost
// nothing, and the one that is wanted is there as soon as one is made.
type asleep struct {
	number int
	view   program.Tab
}

// lay puts remembered tabs to sleep; mu must be held.
func (b *Browser) lay(found remembered) {
	for i, address := range found.Tabs {
		b.lastTab++
		id := "t" + strconv.Itoa(b.lastTab)
		b.asleep = append(b.asleep, asleep{number: b.lastTab, view: program.Tab{
			ID: id, URL: address, Level: b.level(), Session: b.options.Session, Made: true,
		}})
		if i == found.Selected {
			b.selected = id
		}
	}
}

func (b *Browser) sleeper(id string) (asleep, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.indexAsleep(id)
	if i < 0 {
		return asleep{}, false
	}
	return b.asleep[i], true
}

// indexAsleep needs mu.
func (b *Browser) indexAsleep(id string) int {
	return slices.IndexFunc(b.asleep, func(a asleep) bool { return a.view.ID == id })
}

// forget gives up a tab that is asleep; false for any other.
func (b *Browser) forget(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.indexAsleep(id)
	if i < 0 {
		return false
	}
	b.asleep = slices.Delete(b.asleep, i, i+1)
	b.tellChanged()
	return true
}

// rouse makes the page of a tab that is asleep. Its address is loaded before the program runs, unless that leads elsewhere
// anyway. Whoever calls has the browser's turn.
func (b *Browser) rouse(ctx context.Context, a asleep, p program.Program) (*tab, error) {
	t, err := b.openTab(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	t.number, t.id = a.number, a.view.ID
	t.view.ID, t.view.URL = a.view.ID, a.view.URL
	b.asleep = slices.DeleteFunc(b.asleep, func(other asleep) bool { return other.number == a.number })
	slices.SortFunc(b.tabs, func(x, y *tab) int { return x.number - y.number })
	b.tellChanged()
	if !navigates(p) {
		t.unloaded = a.view.URL
	}
	return t, nil
}

func navigates(p program.Program) bool {
	return slices.ContainsFunc(p.Steps, func(s program.Step) bool { return s.Call == "Page.navigate" })
}

// runIn runs a program, where the tab has just been woken in the page that it remembers. The loading is no part of the
// program: it was made before anybody knew the page would not be there.
func (t *tab) runIn(ctx context.Context, p program.Program) program.Result {
	if t.unloaded == "" {
		return t.executor.Run(ctx, p)
	}
	address := t.unloaded
	t.unloaded = ""
	loaded := t.executor.Run(ctx, loading(address, p))
	if loaded.Error != nil {
		loaded.Error.Step, loaded.Steps = -1, nil
		return loaded
	}
	p.DeadlineMS = max(1, p.DeadlineMS-loaded.ElapsedMS)
	result := t.executor.Run(ctx, p)
	result.Dialogs = append(loaded.Dialogs, result.Dialogs...)
	return result
}

const (
	// loadQuietMS and loadMostMS bound the wait for a remembered page: the program's own steps wait for what they need.
	loadQuietMS = 150
	loadMostMS  = 5000
)

func loading(address string, p program.Program) program.Program {
	to := fmt.Appendf(nil, `{"url":%s}`, quoted(address))
	return program.Program{Tab: p.Tab, DeadlineMS: max(1, p.DeadlineMS/2), Steps: []program.Step{
		{Call: "Page.navigate", Params: to},
		{Settle: &program.Settle{QuietMS: loadQuietMS, MaxMS: max(1, min(loadMostMS, p.DeadlineMS/3))}},
	}}
}

// quoted is a text in JSON, which is always possible.
func quoted(text string) []byte {
	encoded, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`)
	}
	return encoded
}

// wake loads a tab that somebody wants to see and nobody has used yet.
func (b *Browser) wake(ctx context.Context, id string) {
	if _, ok := b.sleeper(id); !ok {
		return
	}
	look := program.Program{Tab: id, DeadlineMS: int(answerTimeout / time.Millisecond), Steps: []program.Step{
		{Settle: &program.Settle{QuietMS: 1, MaxMS: 1}},
	}}
	_, _ = b.Run(ctx, look) // a tab that did not come is told of by whoever looks for it
}
