package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// popupAddress is the popup as a page; `tab` is the tab it is about, as the toolbar's popup is about the
// active one.
const popupAddress = "chrome-extension://codmbdnikppphedddibekmoeejjjmbig/popup.html"

// Popup opens the extension's popup about a page's tab (nil: about none).
func (p *Person) Popup(ctx context.Context, about *Page) (*Page, error) {
	address := popupAddress
	if about != nil {
		tab, err := p.tabID(ctx, about)
		if err != nil {
			return nil, err
		}
		address += fmt.Sprintf("?tab=%d", tab)
	}
	return p.visitWhenReady(ctx, address)
}

// visitWhenReady visits an extension's page, which answers only once Chrome has taken the extension in.
func (p *Person) visitWhenReady(ctx context.Context, address string) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return p.Visit(ctx, address)
}

// tabID asks the extension itself which tab shows the page, through one of its own pages.
func (p *Person) tabID(ctx context.Context, about *Page) (int, error) {
	probe, err := p.visitWhenReady(ctx, popupAddress)
	if err != nil {
		return 0, err
	}
	defer func() { _ = probe.Leave(ctx) }()
	var href string
	if err := about.Do(ctx, "location.href", &href); err != nil {
		return 0, err
	}
	var ids []int
	query := fmt.Sprintf("chrome.tabs.query({}).then(all => all.filter(t => t.url === %q).map(t => t.id))", href)
	if err := probe.Do(ctx, query, &ids); err != nil {
		return 0, err
	}
	if len(ids) != 1 {
		return 0, fmt.Errorf("%d tabs show %s, want one", len(ids), href)
	}
	return ids[0], nil
}

// Leave closes the page's tab.
func (p *Page) Leave(ctx context.Context) error {
	_, err := p.browser.Call(ctx, "", "Target.closeTarget", map[string]any{"targetId": p.target})
	return err
}

// Pair pastes a connection code into the popup and waits until it says Connected.
func (p *Person) Pair(ctx context.Context, code string) error {
	popup, err := p.Popup(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = popup.Leave(ctx) }()
	if err := popup.Paste(ctx, "#code", code); err != nil {
		return err
	}
	if err := popup.Click(ctx, "#connect"); err != nil {
		return err
	}
	return popup.Wait(ctx, `document.querySelector("#status")?.textContent.includes("Connected")`)
}

// Share shares a page's tab at a level, `read` or `act`.
func (p *Person) Share(ctx context.Context, page *Page, level string) error {
	return p.inPopup(ctx, page, func(popup *Page) error {
		if err := popup.Click(ctx, "#level-"+level); err != nil {
			return err
		}
		if err := popup.Click(ctx, "#share"); err != nil {
			return err
		}
		return popup.Wait(ctx, shown("#unshare"))
	})
}

// Unshare takes a page's tab back.
func (p *Person) Unshare(ctx context.Context, page *Page) error {
	return p.inPopup(ctx, page, func(popup *Page) error {
		if err := popup.Click(ctx, "#unshare"); err != nil {
			return err
		}
		return popup.Wait(ctx, shown("#share"))
	})
}

// Disconnect ends the pairing from the popup.
func (p *Person) Disconnect(ctx context.Context) error {
	return p.inPopup(ctx, nil, func(popup *Page) error {
		if err := popup.Click(ctx, "#disconnect"); err != nil {
			return err
		}
		return popup.Wait(ctx, shown("#code"))
	})
}

func (p *Person) inPopup(ctx context.Context, page *Page, do func(*Page) error) error {
	popup, err := p.Popup(ctx, page)
	if err != nil {
		return err
	}
	return errors.Join(do(popup), popup.Leave(ctx))
}

func shown(selector string) string {
	return fmt.Sprintf("document.querySelector(%q)?.getClientRects().length", selector)
}

// StopWorker stops the extension's worker as Chrome itself does when it has been idle, and waits until it
// is stopped.
func (p *Person) StopWorker(ctx context.Context) error {
	worker, err := p.workerTarget(ctx)
	if err != nil {
		return err
	}
	if _, err := p.browser.Call(ctx, "", "Target.closeTarget", map[string]any{"targetId": worker}); err != nil {
		return fmt.Errorf("stop the worker: %w", err)
	}
	return nil
}

// Worker is the extension's worker, awake as long as one looks at it.
func (p *Person) Worker(ctx context.Context) (*Page, error) {
	target, err := p.workerTarget(ctx)
	if err != nil {
		return nil, err
	}
	return p.Look(ctx, target)
}

func (p *Person) workerTarget(ctx context.Context) (string, error) {
	raw, err := p.browser.Call(ctx, "", "Target.getTargets", map[string]any{})
	if err != nil {
		return "", err
	}
	var list struct {
		TargetInfos []struct{ TargetID, Type, URL string }
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return "", err
	}
	for _, t := range list.TargetInfos {
		if t.Type == "service_worker" && len(t.URL) > len(popupAddress)-len("popup.html") {
			return t.TargetID, nil
		}
	}
	return "", errors.New("the extension's worker does not run")
}
