package chrome

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// mostRemembered is how many tabs come back, the newest.
	mostRemembered = 50
	// mostTabsFile is the most that is read of the file, in bytes; the longest addresses of all tabs are far from it.
	mostTabsFile = 1 << 20
	// memoryPause is how long changes of tabs are gathered before they are written.
	memoryPause = 500 * time.Millisecond
)

// remembered is what tabs.json holds: http and https addresses in order of opening, and which of them was selected, -1
// for none.
type remembered struct {
	Tabs     []string `json:"tabs"`
	Selected int      `json:"selected"`
}

// tabs reads what was remembered. Whoever can write the file is not trusted with more than addresses: what is not one,
// or not permitted, is left out.
func (p *profile) tabs(permits func(string) bool) (remembered, error) {
	none := remembered{Selected: -1}
	file, err := os.Open(p.tabsFile())
	if errors.Is(err, os.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("open the remembered tabs: %w", err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, mostTabsFile))
	if err != nil {
		return none, fmt.Errorf("read the remembered tabs: %w", err)
	}
	var found remembered
	if err := json.Unmarshal(text, &found); err != nil {
		return none, fmt.Errorf("read the remembered tabs: %w", err)
	}
	return found.that(func(address string) bool { return isRememberable(address) && (permits == nil || permits(address)) }), nil
}

// that keeps what fits, and of it the newest, the selected one among them.
func (r remembered) that(fits func(string) bool) remembered {
	kept := remembered{Selected: -1}
	for i, address := range r.Tabs {
		if !fits(address) {
			continue
		}
		if i == r.Selected {
			kept.Selected = len(kept.Tabs)
		}
		kept.Tabs = append(kept.Tabs, address)
	}
	for len(kept.Tabs) > mostRemembered {
		if kept.Selected == 0 { // stays, and the next one goes instead
			kept.Tabs = slices.Delete(kept.Tabs, 1, 2)
			continue
		}
		kept.Tabs, kept.Selected = kept.Tabs[1:], max(kept.Selected-1, -1)
	}
	return kept
}

// isRememberable is what can be opened again: an address of the web that is whole, without a name or password in it.
func isRememberable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		len(address) <= longestURL && !strings.HasSuffix(address, "…")
}

func (p *profile) tabsFile() string { return filepath.Join(p.path, "tabs.json") }

// keepTabs writes the file whole or not at all.
func (p *profile) keepTabs(r remembered) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode tabs: %w", err)
	}
	fresh := p.tabsFile() + ".new"
	if err := os.WriteFile(fresh, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write tabs: %w", err)
	}
	if err := os.Rename(fresh, p.tabsFile()); err != nil {
		return fmt.Errorf("write tabs: %w", err)
	}
	return nil
}

// memory writes a profile's tabs down whenever they have changed.
type memory struct {
	profile *profile
	browser *Browser
	log     *slog.Logger

	wrote   remembered // what the file holds
	quit    chan struct{}
	once    sync.Once
	running sync.WaitGroup
}

// remember brings back the tabs of before, asleep, and writes them down from here on. Nothing is open yet: a profile's
// Chrome begins blank.
func (b *Browser) remember(ctx context.Context, on *profile) {
	found, err := on.tabs(b.options.Permits)
	if err != nil {
		b.proc.log.LogAttrs(ctx, slog.LevelWarn, "the tabs of before do not come back", slog.Any("error", err))
	}
	m := &memory{profile: on, browser: b, log: b.proc.log, wrote: found, quit: make(chan struct{})}
	b.mu.Lock()
	if len(b.tabs) == 0 {
		b.lay(found)
	}
	b.memory = m
	b.mu.Unlock()
	m.running.Go(func() { m.run(context.WithoutCancel(ctx)) })
}

func (m *memory) run(ctx context.Context) {
	for {
		changed := m.browser.Changed()
		m.write(ctx)
		select {
		case <-changed:
		case <-m.quit:
			return
		}
		pause := time.NewTimer(memoryPause)
		select {
		case <-pause.C:
		case <-m.quit:
			pause.Stop()
			return
		}
	}
}

func (m *memory) write(ctx context.Context) {
	now := m.browser.worthRemembering()
	if now.Selected == m.wrote.Selected && slices.Equal(now.Tabs, m.wrote.Tabs) {
		return
	}
	if err := m.profile.keepTabs(now); err != nil {
		m.log.LogAttrs(ctx, slog.LevelError, "tabs are not remembered", slog.Any("error", err))
		return
	}
	m.wrote = now
}

// stop ends the writing: the file stays as it is. A nil memory has nothing to end.
func (m *memory) stop() {
	if m == nil {
		return
	}
	m.once.Do(func() { close(m.quit) })
	m.running.Wait()
}

// finish is stop with the tabs as they are now.
func (m *memory) finish(ctx context.Context) {
	m.stop()
	if m != nil {
		m.write(ctx)
	}
}

// memorise is the memory's end at that of a session which is closed. A Chrome that is ending may have lost some tabs
// already: then those that were written last stay.
func (b *Browser) memorise(ctx context.Context) {
	if b.proc.isEnding() {
		b.memory.stop()
		return
	}
	b.memory.finish(ctx)
}

func (b *Browser) worthRemembering() remembered {
	all := remembered{Selected: -1}
	selected := b.Selected()
	for i, t := range b.Tabs() {
		all.Tabs = append(all.Tabs, t.URL)
		if t.ID == selected {
			all.Selected = i
		}
	}
	return all.that(isRememberable)
}

// Select notes which tab the session has selected, for its profile; one that is not there is none.
func (b *Browser) Select(tab string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.selected != tab {
		b.selected = tab
		b.tellChanged()
	}
}

// Selected is the tab that was selected last, also before the session began; empty where none was.
func (b *Browser) Selected() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.selected
}
