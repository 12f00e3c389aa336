package chrome

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"

	"chaperone/relay/program"
)

// beginWait is how long after a program a download may begin that it asked for: a page may make the file first.
const beginWait = 2 * time.Second

// fetching is one download that is let through, from its first event to its last.
type fetching struct {
	most    int64
	guid    string // Chrome's name of it; the first one counts
	got     program.Download
	changed chan struct{} // closed and made anew with every event
	isOver  bool
	cancel  func(guid string)
}

// RunFetching is Run, with downloads permitted to the session while it runs and until the first one has ended, into a
// folder of its own that is gone afterwards. It answers that download, nil where none began. One of more than most bytes
// is given up. Sessions of one Chrome fetch one after the other: its events do not tell whose they are.
func (b *Browser) RunFetching(ctx context.Context, p program.Program, most int64) (program.Result, *program.Download, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(p.DeadlineMS)*time.Millisecond)
	defer cancel()
	select {
	case b.proc.fetchTurn <- struct{}{}:
		defer func() { <-b.proc.fetchTurn }()
	case <-b.over:
		return program.Result{}, nil, b.ended()
	case <-ctx.Done():
		return program.Result{}, nil, ctx.Err()
	}
	folder, err := os.MkdirTemp(b.proc.folder.tmp(), "fetch-")
	if err != nil {
		return program.Result{}, nil, fmt.Errorf("make a folder for the download: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := b.permitDownloads(ctx, folder); err != nil {
		return program.Result{}, nil, err
	}
	defer b.denyDownloads(ctx)
	f := b.proc.fetch(b.contextID, most)
	defer b.proc.endFetch()
	result, err := b.Run(ctx, p)
	if err != nil || result.Error != nil && !f.hasBegun(b.proc) {
		return result, nil, err
	}
	return result, b.await(ctx, f, folder), nil
}

func (b *Browser) permitDownloads(ctx context.Context, folder string) error {
	allow := browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, BrowserContextID: b.contextID, DownloadPath: folder, EventsEnabled: new(true),
	}
	if _, err := call(ctx, b.proc.conn, "", browser.SetDownloadBehavior, allow); err != nil {
		return fmt.Errorf("permit the download: %w", err)
	}
	return nil
}

// denyDownloads is what holds at all other times. A Chrome that does not say that it does is given up.
func (b *Browser) denyDownloads(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), partTimeout)
	defer cancel()
	deny := browser.SetDownloadBehaviorParams{Behavior: browser.SetDownloadBehaviorBehaviorDeny, BrowserContextID: b.contextID}
	if _, err := call(ctx, b.proc.conn, "", browser.SetDownloadBehavior, deny); err != nil {
		b.proc.conn.fail(fmt.Errorf("deny downloads again: %w", err))
	}
}

// await waits for the download's end and reads it.
func (b *Browser) await(ctx context.Context, f *fetching, folder string) *program.Download {
	begun := time.NewTimer(beginWait)
	defer begun.Stop()
	for {
		state, changed := f.state(b.proc)
		if state.isOver {
			return state.read(folder)
		}
		select {
		case <-changed:
		case <-begun.C:
			if state.guid == "" {
				return nil
			}
		case <-b.over:
			return nil
		case <-ctx.Done():
			return state.gaveUp()
		}
	}
}

// read takes in the file, which Chrome named by the download's id.
func (f fetching) read(folder string) *program.Download {
	if f.got.Failed || f.got.TooLarge {
		return &f.got
	}
	name := filepath.Join(folder, filepath.Base(f.guid))
	if info, err := os.Stat(name); err == nil && info.Size() > f.most {
		f.got.TooLarge = true
		return &f.got
	}
	data, err := os.ReadFile(name) //nolint:gosec // Chrome's own number in a folder of ours
	f.got.Data, f.got.Failed = data, err != nil
	return &f.got
}

// gaveUp tells of a download that did not end in time.
func (f fetching) gaveUp() *program.Download {
	if f.guid == "" {
		return nil
	}
	f.cancel(f.guid)
	f.got.Failed = true
	return &f.got
}

// downloads is what a process knows of the one that is let through.
type downloads struct {
	fetchTurn chan struct{} // of capacity one: holds whoever fetches
	fetchMu   sync.Mutex
	fetching  *fetching
}

func (p *process) fetch(in cdp.BrowserContextID, most int64) *fetching {
	f := &fetching{most: most, changed: make(chan struct{}), cancel: func(guid string) {
		post(p.conn, "", browser.CancelDownload, browser.CancelDownloadParams{GUID: guid, BrowserContextID: in})
	}}
	p.fetchMu.Lock()
	defer p.fetchMu.Unlock()
	p.fetching = f
	return f
}

func (p *process) endFetch() {
	p.fetchMu.Lock()
	defer p.fetchMu.Unlock()
	p.fetching = nil
}

func (f *fetching) state(p *process) (fetching, <-chan struct{}) {
	p.fetchMu.Lock()
	defer p.fetchMu.Unlock()
	return *f, f.changed
}

func (f *fetching) hasBegun(p *process) bool {
	state, _ := f.state(p)
	return state.guid != ""
}

// routeDownload follows the download that is let through; further ones of the same program are given up.
func (p *process) routeDownload(e event) {
	on(e, browser.DownloadWillBegin, func(d browser.EventDownloadWillBegin) {
		p.noteDownload(func(f *fetching) {
			if f.guid != "" {
				f.cancel(d.GUID)
				return
			}
			f.guid, f.got.Name = d.GUID, d.SuggestedFilename
		})
	})
	on(e, browser.DownloadProgress, func(d browser.EventDownloadProgress) {
		p.noteDownload(func(f *fetching) { f.progress(d) })
	})
}

func (p *process) noteDownload(change func(*fetching)) {
	p.fetchMu.Lock()
	defer p.fetchMu.Unlock()
	if f := p.fetching; f != nil {
		change(f)
		close(f.changed)
		f.changed = make(chan struct{})
	}
}

func (f *fetching) progress(d browser.EventDownloadProgress) {
	switch {
	case d.GUID != f.guid || f.isOver:
	case int64(d.ReceivedBytes) > f.most || int64(d.TotalBytes) > f.most:
		f.got.TooLarge, f.isOver = true, true
		f.cancel(f.guid)
	case d.State == browser.DownloadProgressStateCompleted:
		f.isOver = true
	case d.State == browser.DownloadProgressStateCanceled:
		f.got.Failed, f.isOver = true, true
	}
}
