package browse

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"chaperone/relay/program"
	"chaperone/server/fault"
)

// whereabouts are what every answer of the page script says of its document.
type whereabouts struct {
	URL  string `json:"url"`
	Site string `json:"site"` // its origin; empty where it has none of its own
}

// admits reports whether the project allows a document. A blank one that is nobody else's counts as what is around it.
func (o Options) admits(at whereabouts, around bool) bool {
	switch {
	case len(o.AllowDomains) == 0:
		return true
	case at.Site != "":
		return around && o.allows(at.Site)
	case at.URL == blankPage || at.URL == "about:srcdoc":
		return around
	}
	return around && at.URL != "" && o.allows(at.URL)
}

// judged are a tab's frames with the verdict on each. A frame inside one that is not admitted is not admitted, nor
// is one whose parent did not answer.
type judged struct {
	frames   []program.FrameResult
	admitted map[string]bool // by frame id
}

func (o Options) judge(frames []program.FrameResult) judged {
	j := judged{frames: frames, admitted: map[string]bool{}}
	for i, frame := range frames {
		if len(o.AllowDomains) == 0 {
			j.admitted[frame.Frame] = true
			continue
		}
		var at whereabouts
		readable := json.Unmarshal(frame.Value, &at) == nil
		around := i == 0 || j.admitted[frame.Parent]
		j.admitted[frame.Frame] = readable && o.admits(at, around)
	}
	return j
}

// main is the id of the main frame; empty without any.
func (j judged) main() string {
	if len(j.frames) == 0 {
		return ""
	}
	return j.frames[0].Frame
}

// holdsRefused reports whether the node of a frame is the element of one that is not admitted.
func (j judged) holdsRefused(frame string, node int) bool {
	for _, f := range j.frames {
		if f.Parent == frame && f.Owner == node && node != 0 && !j.admitted[f.Frame] {
			return true
		}
	}
	return false
}

// guard refuses an action whose element, or whose keys, would go to a frame on a domain that is not allowed: the
// frame may have moved there since its ref was given out.
func (e *Engine) guard(ctx context.Context, a Action, j job) error {
	keys := (a.Action == "type" || a.Action == "press") && !a.names()
	near := a.Ref != "" && (j.about.frame != "" || j.about.role == "iframe")
	if len(e.options.AllowDomains) == 0 || !keys && !near {
		return nil
	}
	p := newPlan(j.tab, Action{}, j.left())
	at := p.runEach("@state", object{})
	ran, err := e.send(ctx, p)
	if err != nil {
		return e.trouble(err, p, element{})
	}
	var frames []program.FrameResult
	if err := json.Unmarshal(ran.Steps[at], &frames); err != nil {
		return fault.Wrap(fmt.Errorf("decode frames: %w", err), "the browser answered in another shape")
	}
	judged := e.options.judge(frames)
	if keys {
		return judged.refuseKeys()
	}
	return judged.refuse(j.about)
}

func (j judged) refuseKeys() error {
	for _, f := range j.frames {
		if !j.admitted[f.Frame] && hasFocus(f) {
			return strayed("The keyboard is in a frame on a domain that the project does not allow")
		}
	}
	return nil
}

func (j judged) refuse(about element) error {
	for _, f := range j.frames {
		if f.Frame == about.frame && !j.admitted[f.Frame] {
			return strayed("The frame is on a domain that the project does not allow")
		}
	}
	inside := about.frame
	if inside == "" {
		inside = j.main()
	}
	if j.holdsRefused(inside, about.node) {
		return strayed("The frame is on a domain that the project does not allow")
	}
	return nil
}

func hasFocus(f program.FrameResult) bool {
	var state struct {
		Focused bool `json:"focused"`
	}
	return json.Unmarshal(f.Value, &state) != nil || state.Focused
}

// withheld is what a line says instead of a frame that is not shown.
func withheld(at whereabouts) string {
	raw := at.Site
	if raw == "" {
		raw = at.URL
	}
	host := ""
	if u, err := url.Parse(program.Clip(raw, longestURL)); err == nil {
		host = short(strings.ToLower(u.Host), longestLink)
	}
	if host == "" {
		return "the frame is not shown: it is not known to be on an allowed domain"
	}
	return host + " is not an allowed domain: the frame is not shown"
}

const framesWithheld = "A frame on a domain that the project does not allow is not shown."

// leftOut tells of frames that the edge did not get to.
func (r *reading) leftOut(frames []program.FrameResult) {
	if len(frames) > 0 && frames[0].LeftOut > 0 {
		r.notice(fmt.Sprintf("%d frames of the page did not answer in time, or are too many: they are left out.", frames[0].LeftOut))
	}
}
