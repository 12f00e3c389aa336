package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chaperone/packager"
	"chaperone/server/chrome"
)

// lookEvery is how often a person looks whether the page has changed.
const lookEvery = 50 * time.Millisecond

// patience is how long a person waits for something to show. A busy machine starts an extension's worker
// in up to nine seconds.
const patience = 30 * time.Second

// Person has a Chromium of their own, with the unpacked extension, and acts in it as hands would: through
// pages, the popup's page among them. Close ends the browser.
type Person struct {
	browser *chrome.Plain
	folder  string
}

// PersonOptions say which browser a person has. The zero value is the first that is found, headless, with
// a fresh profile.
type PersonOptions struct {
	Binary  string
	Profile string // a user data folder to keep; empty: a fresh one that goes with the browser
	Display string // an X display to be headed on; empty: headless
	Flags   []string
}

// Arrive starts the person's browser and loads the extension into it.
func Arrive(ctx context.Context, o PersonOptions) (*Person, error) {
	folder, err := os.MkdirTemp("", "chaperone-person-")
	if err != nil {
		return nil, err
	}
	p := &Person{folder: folder}
	if err := p.arrive(ctx, o); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Person) arrive(ctx context.Context, o PersonOptions) error {
	files, err := packager.Extension()
	if err != nil {
		return err
	}
	if err := os.CopyFS(p.extension(), files); err != nil {
		return fmt.Errorf("unpack the extension: %w", err)
	}
	profile := o.Profile
	if profile == "" {
		profile = filepath.Join(p.folder, "profile")
	}
	p.browser, err = chrome.StartPlain(ctx, chrome.PlainOptions{
		Binary: o.Binary, Profile: profile, Display: o.Display,
		Flags: append([]string{"--enable-unsafe-extension-debugging", "--silent-debugger-extension-api"}, o.Flags...),
	})
	if err != nil {
		return err
	}
	return p.LoadExtension(ctx)
}

// LoadExtension loads the unpacked extension, or loads it again, as Reload on the extensions page does.
func (p *Person) LoadExtension(ctx context.Context) error {
	_, err := p.browser.Call(ctx, "", "Extensions.loadUnpacked", map[string]any{"path": p.extension()})
	if err != nil {
		return fmt.Errorf("load the unpacked extension: %w", err)
	}
	return nil
}

func (p *Person) extension() string { return filepath.Join(p.folder, "extension") }

// Close ends the browser and removes what it left.
func (p *Person) Close() error {
	var err error
	if p.browser != nil {
		err = p.browser.Close()
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}

// Browser is the person's browser, for those who test what a hand cannot do.
func (p *Person) Browser() *chrome.Plain { return p.browser }

// Page is one page that the person looks at.
type Page struct {
	browser *chrome.Plain
	target  string
	session string
}

// Visit opens an address in a new tab and waits for it to load.
func (p *Person) Visit(ctx context.Context, address string) (*Page, error) {
	return p.visit(ctx, map[string]any{"url": address})
}

// VisitInWindow opens an address in a window of its own and waits for it to load.
func (p *Person) VisitInWindow(ctx context.Context, address string) (*Page, error) {
	return p.visit(ctx, map[string]any{"url": address, "newWindow": true})
}

func (p *Person) visit(ctx context.Context, params map[string]any) (*Page, error) {
	var created struct{ TargetID string }
	if err := p.call(ctx, "Target.createTarget", params, &created); err != nil {
		return nil, fmt.Errorf("open a tab: %w", err)
	}
	page, err := p.Look(ctx, created.TargetID)
	if err != nil {
		return nil, err
	}
	return page, page.Wait(ctx, `document.readyState === "complete" && location.href !== "about:blank"`)
}

// Look is the page, or the worker, that is a target already.
func (p *Person) Look(ctx context.Context, target string) (*Page, error) {
	var attached struct{ SessionID string }
	err := p.call(ctx, "Target.attachToTarget", map[string]any{"targetId": target, "flatten": true}, &attached)
	if err != nil {
		return nil, fmt.Errorf("look at the tab: %w", err)
	}
	return &Page{browser: p.browser, target: target, session: attached.SessionID}, nil
}

func (p *Person) call(ctx context.Context, method string, params any, into any) error {
	raw, err := p.browser.Call(ctx, "", method, params)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// Do evaluates an expression in the page and decodes its value into one, when one is given.
func (p *Page) Do(ctx context.Context, expression string, into any) error {
	raw, err := p.browser.Call(ctx, p.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
	})
	if err != nil {
		return err
	}
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	if e := answer.ExceptionDetails; e != nil {
		return fmt.Errorf("%s %s", e.Text, e.Exception.Description)
	}
	if into == nil || len(answer.Result.Value) == 0 {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, into)
}

// Wait looks until the expression holds, and says what the page showed when it never does.
func (p *Page) Wait(ctx context.Context, expression string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		var holds bool
		err := p.Do(ctx, "Boolean("+expression+")", &holds)
		if err == nil && holds {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the page never came to %s (%w); it shows %q", expression, errors.Join(err, ctx.Err()), p.shows(context.WithoutCancel(ctx)))
		case <-tick.C:
		}
	}
}

func (p *Page) shows(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var text string
	if err := p.Do(ctx, "document.body.innerText", &text); err != nil {
		return "nothing: " + err.Error()
	}
	return strings.Join(strings.Fields(text), " ")
}

// Click presses the element that a selector finds, with the mouse.
func (p *Page) Click(ctx context.Context, selector string) error {
	if err := p.Wait(ctx, fmt.Sprintf("(e => e && !e.disabled && e.getClientRects().length)(document.querySelector(%q))", selector)); err != nil {
		return err
	}
	var at struct{ X, Y float64 }
	where := fmt.Sprintf(`(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect();
		return {x: r.x + r.width / 2, y: r.y + r.height / 2} })(document.querySelector(%q))`, selector)
	if err := p.Do(ctx, where, &at); err != nil {
		return err
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		_, err := p.browser.Call(ctx, p.session, "Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1,
		})
		if err != nil {
			return fmt.Errorf("click %s: %w", selector, err)
		}
	}
	return nil
}

// Paste puts text where the keyboard is after a click on the element.
func (p *Page) Paste(ctx context.Context, selector, text string) error {
	if err := p.Click(ctx, selector); err != nil {
		return err
	}
	_, err := p.browser.Call(ctx, p.session, "Input.insertText", map[string]any{"text": text})
	return err
}

// Call sends one command to the page, for what a hand cannot do.
func (p *Page) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return p.browser.Call(ctx, p.session, method, params)
}
