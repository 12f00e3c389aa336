package browse

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// A program holds at most 2 MiB: what is larger goes to the page in several, before the one that gives it to the field.
const (
	partSize    = 600 << 10 // bytes of a file; a multiple of three, so that its base64 has no padding
	inOneGo     = 1200 << 10
	mostFetched = 32 << 20 // bytes of a download
)

// stage writes the end of an upload's plan, and sends what does not fit into it ahead.
func (e *Engine) stage(ctx context.Context, j *job) error {
	batch := rand.Text()
	ahead, size := newPlan(j.tab, j.action, j.left()), 0
	send := func() error {
		_, err := e.send(ctx, ahead)
		if err != nil {
			return e.trouble(err, ahead, j.about)
		}
		ahead, size = newPlan(j.tab, j.action, j.left()), 0
		return nil
	}
	for i, f := range j.action.Files {
		for at := 0; at == 0 || at < len(f.Data); at += partSize {
			part := f.Data[at:min(at+partSize, len(f.Data))]
			if size > 0 && size+len(part) > inOneGo {
				if err := send(); err != nil {
					return err
				}
			}
			size += len(part)
			ahead.run("@stage", j.about.frame, object{
				"batch": batch, "file": i, "name": f.Name, "type": f.MIME, "part": base64.StdEncoding.EncodeToString(part),
			})
		}
	}
	j.plan.Steps = ahead.Steps
	j.plan.run("@upload", j.about.frame, object{"target": j.about.target(), "expect": j.about.expect(), "batch": batch})
	j.plan.settleFor(quietMS, settleMS)
	return nil
}

// fetcher is a browser whose downloads can be let through for one program.
type fetcher interface {
	// RunFetching is Run, with downloads permitted to the program's tab while it runs and until the first one has ended. It
	// answers that one, nil where none began; a file of more than most bytes is given up, and has no Data.
	RunFetching(ctx context.Context, p program.Program, most int64) (program.Result, *program.Download, error)
}

// runIn runs a plan, where downloads are meant to come with them.
func (e *Engine) runIn(ctx context.Context, p *plan) (program.Result, error) {
	if !p.fetches {
		return e.browser.Run(ctx, p.Program)
	}
	f, ok := e.browser.(fetcher)
	if !ok {
		return program.Result{}, noDownloads()
	}
	result, fetched, err := f.RunFetching(ctx, p.Program, mostFetched)
	p.fetched = fetched
	return result, err
}

func noDownloads() error {
	return fault.New(fault.Unavailable, "Downloads are not permitted in a person's own browser", "Use a managed session, or ask the person to fetch it.")
}

// readDownload tells of the file that a click brought.
func readDownload(r *reading) error {
	if r.job.action.Action != "download" {
		return nil
	}
	got := r.job.fetched()
	switch {
	case got == nil:
		return fault.New(fault.NotFound, "The click was sent, but no download began", "Take a snapshot to see what it did.")
	case got.TooLarge:
		return fault.New(fault.TooLarge, fmt.Sprintf("The file is larger than %d MiB and was given up", mostFetched>>20), "Ask the person to fetch it.")
	case got.Failed:
		return fault.New(fault.NavigationFailed, "The download began but did not end", "Try again later.")
	}
	r.result.File = got.Data
	r.result.Download = &Download{Name: short(got.Name, longestFile), Bytes: len(got.Data)}
	return nil
}

// fetched is what the job's first program downloaded.
func (j job) fetched() *program.Download {
	if j.first != nil {
		return j.first.fetched
	}
	return j.plan.fetched
}
