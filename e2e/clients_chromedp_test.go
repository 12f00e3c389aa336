package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

// chromedpStep is one step of the chromedp client: what it gave, as the other clients' scripts say it.
type chromedpStep struct {
	name string
	run  func(ctx context.Context) (any, error)
}

// gopher drives the workshop with chromedp, which is a Go library and so needs no script of its own.
type gopher struct {
	road   clientRoad
	page   context.Context //nolint:containedctx // a chromedp tab is a context
	id     target.ID
	leave  func()
	tabCtx context.Context //nolint:containedctx // the allocator's, which other tabs are made of
}

// driveByChromedp says each step as a line, like the scripts.
func driveByChromedp(ctx context.Context, road clientRoad, say func(clientLine)) {
	g := &gopher{road: road, leave: func() {}}
	defer func() { g.leave() }()
	for _, s := range slices.Concat(g.basics(), g.sites(), g.tabs()) {
		began := time.Now()
		line := clientLine{Step: s.name}
		value, err := g.within(ctx, s)
		if err != nil {
			line.Error = err.Error()
		} else {
			line.Value = fmt.Sprint(value)
		}
		line.MS = int(time.Since(began).Milliseconds())
		say(line)
	}
}

// within bounds one step, except for the first, whose context the tab lives by.
func (g *gopher) within(ctx context.Context, s chromedpStep) (any, error) {
	if g.page == nil {
		return g.connect(ctx)
	}
	ctx, cancel := context.WithTimeout(g.page, time.Duration(g.road.StepMS)*time.Millisecond)
	defer cancel()
	return s.run(ctx)
}

// connect looks at the session's tabs first, so that the first one is driven and no new one made.
func (g *gopher) connect(ctx context.Context) (any, error) {
	all, cancelAll := remote.NewAllocator(ctx, g.road.WS)
	browser, cancelBrowser := chromedp.NewContext(all)
	g.leave = func() { cancelBrowser(); cancelAll() }
	found, err := pageTargets(browser)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("there is no page")
	}
	g.tabCtx, g.id = browser, found[0].TargetID
	var cancelPage context.CancelFunc
	g.page, cancelPage = chromedp.NewContext(browser, chromedp.WithTargetID(g.id), chromedp.WithDetachOnCancel())
	g.leave = func() { cancelPage(); cancelBrowser(); cancelAll() }
	return len(found), chromedp.Do(g.page)
}

func pageTargets(ctx context.Context) ([]*target.Info, error) {
	all, err := chromedp.Targets(ctx)
	return slices.DeleteFunc(all, func(t *target.Info) bool { return t.Type != "page" }), err
}

func (g *gopher) textOf(ctx context.Context, selector string) (string, error) {
	return chromedp.Run(ctx, chromedp.TextContent(chromedp.CSS(selector)))
}

func (g *gopher) open(ctx context.Context, url string) error {
	return chromedp.Do(ctx, chromedp.Navigate(url))
}

// said is what a page's output says, once it says what is wanted.
func (g *gopher) said(ctx context.Context, url, want string) (any, error) {
	if err := g.open(ctx, url); err != nil {
		return nil, err
	}
	wait := fmt.Sprintf("document.querySelector('#said').textContent === %q", want)
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](wait, chromedp.WithPollingInterval(20*time.Millisecond))); err != nil {
		return nil, err
	}
	return g.textOf(ctx, "#said")
}

func (g *gopher) basics() []chromedpStep {
	site := g.road.Site
	return []chromedpStep{
		{name: "connect"},
		{"open", func(ctx context.Context) (any, error) {
			if err := g.open(ctx, site+"/"); err != nil {
				return nil, err
			}
			return chromedp.Run(ctx, chromedp.Title())
		}},
		{"text", func(ctx context.Context) (any, error) { return g.textOf(ctx, "#welcome") }},
		{"click", func(ctx context.Context) (any, error) {
			if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#count"))); err != nil {
				return nil, err
			}
			return g.textOf(ctx, "#out")
		}},
		{"fill and press", func(ctx context.Context) (any, error) {
			city := chromedp.CSS("#city")
			response, err := chromedp.RunResponse(ctx, chromedp.SendKeys(city, "Oslo"), chromedp.SendKeys(city, "\r"))
			if err != nil {
				return nil, err
			}
			heading, err := g.textOf(ctx, "h1")
			if response.Status != 200 {
				return response.Status, err
			}
			return heading, err
		}},
		{"back", func(ctx context.Context) (any, error) {
			if err := chromedp.Do(ctx, chromedp.NavigateBack()); err != nil {
				return nil, err
			}
			return chromedp.Run(ctx, chromedp.Title())
		}},
		{"reload", func(ctx context.Context) (any, error) {
			if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("#count")), chromedp.Reload()); err != nil {
				return nil, err
			}
			return g.textOf(ctx, "#out")
		}},
		{"evaluate", func(ctx context.Context) (any, error) { return chromedp.Run(ctx, chromedp.Evaluate[int]("6 * 7")) }},
		{"screenshot", func(ctx context.Context) (any, error) {
			picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			if err != nil {
				return nil, err
			}
			file := filepath.Join(g.road.Folder, "chromedp.png")
			return file, os.WriteFile(file, picture, 0o600)
		}},
		{"dark", func(ctx context.Context) (any, error) {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}
			if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
				return nil, err
			}
			return chromedp.Run(ctx, chromedp.Evaluate[bool]("matchMedia('(prefers-color-scheme: dark)').matches"))
		}},
		{"viewport", func(ctx context.Context) (any, error) {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(500, 400)); err != nil {
				return nil, err
			}
			return chromedp.Run(ctx, chromedp.Evaluate[string]("`${innerWidth}x${innerHeight}`"))
		}},
		{"script on every document", func(ctx context.Context) (any, error) {
			script := page.AddScriptToEvaluateOnNewDocumentParams{Source: "globalThis.left = 'behind'"}
			if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, script); err != nil {
				return nil, err
			}
			twice := chromedp.ExposeFunc("twice", func(_ context.Context, n int) (int, error) { return n * 2, nil })
			if err := chromedp.Do(ctx, twice, chromedp.Reload()); err != nil {
				return nil, err
			}
			return chromedp.Run(ctx, chromedp.Evaluate[string]("twice(21).then(n => `${globalThis.left} ${n}`)", chromedp.EvalAwaitPromise))
		}},
	}
}

func (g *gopher) sites() []chromedpStep {
	site, far := g.road.Site, g.road.Far
	return []chromedpStep{
		{"console", func(ctx context.Context) (any, error) {
			messages := chromedp.Console(ctx)
			if err := g.open(ctx, site+"/console"); err != nil {
				return nil, err
			}
			for m, err := range messages {
				if err != nil || strings.HasPrefix(m.Text, "the page speaks") {
					return m.Text, err
				}
			}
			return nil, errors.New("no message")
		}},
		{"network", func(ctx context.Context) (any, error) {
			response, err := chromedp.Run(ctx, chromedp.NavigateResponse(site+"/second"))
			if err != nil {
				return nil, err
			}
			return fmt.Sprint(response.Status, " GET"), nil
		}},
		{"second site", func(ctx context.Context) (any, error) {
			if err := g.open(ctx, far+"/second"); err != nil {
				return nil, err
			}
			return g.textOf(ctx, "#text")
		}},
		{"frame", func(ctx context.Context) (any, error) { return g.frame(ctx) }},
		{"service worker", func(ctx context.Context) (any, error) {
			return g.said(ctx, site+"/service-worker", "the service worker answered")
		}},
		{"worker", func(ctx context.Context) (any, error) { return g.said(ctx, site+"/worker", "the worker says 42") }},
		{"dialog", func(ctx context.Context) (any, error) {
			if err := g.open(ctx, site+"/dialog"); err != nil {
				return nil, err
			}
			asked := chromedp.WaitEvent(page.JavascriptDialogOpening, nil, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
				_, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: "setTimeout(() => ask.click())"})
				return err
			}))
			if _, err := chromedp.Run(ctx, asked); err != nil {
				return nil, err
			}
			if _, err := chromedp.Call(ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true}); err != nil {
				return nil, err
			}
			return g.textOf(ctx, "#said")
		}},
	}
}

// frame goes into a frame of another site, which is a target of its own.
func (g *gopher) frame(ctx context.Context) (any, error) {
	if err := g.open(ctx, g.road.Site+"/frames"); err != nil {
		return nil, err
	}
	all, err := chromedp.Targets(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all, func(t *target.Info) bool { return t.URL == g.road.Far+"/inner" })
	if at < 0 {
		return nil, fmt.Errorf("the frame is no target of %+v", targetNames(all))
	}
	inner, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(all[at].TargetID), chromedp.WithDetachOnCancel())
	defer cancel()
	before, err := g.textOf(inner, "#said")
	if err != nil {
		return nil, err
	}
	if err := chromedp.Do(inner, chromedp.Click(chromedp.CSS("#press"))); err != nil {
		return nil, err
	}
	after, err := g.textOf(inner, "#said")
	return before + ", " + after, err
}

func (g *gopher) tabs() []chromedpStep {
	return []chromedpStep{
		{"link to a new tab", func(ctx context.Context) (any, error) {
			if err := g.open(ctx, g.road.Site+"/"); err != nil {
				return nil, err
			}
			return g.inOpened(ctx, "#blank", func(tab context.Context) (any, error) { return chromedp.Run(tab, chromedp.Title()) })
		}},
		{"window", func(ctx context.Context) (any, error) {
			return g.inOpened(ctx, "#open", func(tab context.Context) (any, error) { return g.textOf(tab, "#text") })
		}},
		{"new tab", func(ctx context.Context) (any, error) {
			tab, cancel := chromedp.NewContext(ctx)
			defer cancel()
			if err := g.open(tab, g.road.Site+"/second"); err != nil {
				return nil, err
			}
			found, err := pageTargets(ctx)
			if err != nil {
				return nil, err
			}
			text, err := g.textOf(tab, "#text")
			if err != nil {
				return nil, err
			}
			if err := chromedp.Cancel(tab); err != nil {
				return nil, err
			}
			left, err := pageTargets(ctx)
			return fmt.Sprintf("%d tabs, %s, %d left", len(found), text, len(left)), err
		}},
		{"context", func(ctx context.Context) (any, error) {
			own, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
			defer cancel()
			return "a context of its own", chromedp.Do(own)
		}},
		{"leave", func(ctx context.Context) (any, error) {
			if err := g.open(ctx, g.road.Site+"/"); err != nil {
				return nil, err
			}
			return false, chromedp.Cancel(g.page)
		}},
	}
}

// inOpened looks into the tab that a click opens, and closes it.
func (g *gopher) inOpened(ctx context.Context, selector string, look func(context.Context) (any, error)) (any, error) {
	opened := chromedp.WaitNewTarget(ctx, func(t *target.Info) bool { return t.URL != "" })
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("no tab was opened: %w", ctx.Err())
	case id := <-opened:
		tab, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(id))
		defer cancel()
		if err := chromedp.Do(tab, chromedp.WaitReady(chromedp.CSS("#text"))); err != nil {
			return nil, err
		}
		value, err := look(tab)
		return value, errors.Join(err, chromedp.Cancel(tab))
	}
}

func targetNames(all []*target.Info) []string {
	names := make([]string, 0, len(all))
	for _, t := range all {
		names = append(names, t.Type+" "+t.URL)
	}
	return names
}
