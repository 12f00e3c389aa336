package endpoint

import (
	"context"
	"time"
)

// tabWait bounds how long a tab may take to be made or closed.
const tabWait = 30 * time.Second

type createParams struct {
	URL       string `json:"url"`
	ContextID string `json:"browserContextId"`
	ForTab    bool   `json:"forTab"`
}

func createTarget(r *router, q *request, params createParams) {
	if params.ContextID != "" && params.ContextID != r.contextID {
		q.fail(errNoContext(params.ContextID))
		return
	}
	var navigate []byte
	if params.URL != "" && params.URL != "about:blank" {
		navigate = encode(map[string]string{"url": params.URL})
		if verdict := r.options.Judge.Raw(r.options.Level, "Page.navigate", navigate); !verdict.Allowed() {
			q.fail(refusal("%s", verdict.Reason))
			return
		}
	}
	pick := func(t *tab) string { return t.page.id }
	if params.ForTab {
		pick = func(t *tab) string { return t.wrapper.id }
	}
	if !r.spawnNow(func(ctx context.Context) { r.makeTab(ctx, q, navigate, pick) }) {
		q.fail(errTabGone())
	}
}

func errNoContext(id string) *failure {
	message := "Failed to find browser context"
	if isPlainName(id) {
		message += " with id " + id
	}
	return &failure{Code: codeServer, Message: message}
}

// makeTab asks the edge for a tab and answers once whoever attaches to all tabs is attached to it.
func (r *router) makeTab(ctx context.Context, q *request, navigate []byte, pick func(*tab) string) {
	ctx, cancel := context.WithTimeout(ctx, tabWait)
	defer cancel()
	name, err := r.edge.NewTab(ctx)
	if err == nil {
		r.look()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tabs[name]
	switch {
	case err != nil:
		q.fail(err)
	case t == nil:
		q.fail(errTabGone())
	case t.hold == nil && navigate == nil:
		q.reply(encode(map[string]string{"targetId": pick(t)}))
	default:
		r.whenHeld(t, func(error) {
			q.reply(encode(map[string]string{"targetId": pick(t)}))
			r.navigate(t, navigate)
		})
	}
}

// navigate begins to load a page that a client asked for with its tab.
func (r *router) navigate(t *tab, params []byte) {
	if params == nil || t.hold == nil || t.hold.isOver {
		return
	}
	r.want(t)
	t.hold.ask(&command{
		method: "Page.navigate", params: params, then: func([]byte, error) { r.unwant(t) },
	})
}

func closeTarget(r *router, q *request, params targetParams) {
	r.closeTab(q, r.targets[params.TargetID], []byte(`{"success":true}`))
}

// closeTab closes the tab of a page. A frame or worker is never a way to close the page that it is in.
func (r *router) closeTab(q *request, t *target, result []byte) {
	switch {
	case t == nil:
		q.fail(errNoTarget())
	case t.child != "":
		q.fail(refusal("only a page can be closed, not a %s in it", t.kind))
	case !r.spawnNow(func(ctx context.Context) { r.closeNow(ctx, q, t.tab.known.ID, result) }):
		q.fail(errTabGone())
	}
}

func (r *router) closeNow(ctx context.Context, q *request, name string, result []byte) {
	ctx, cancel := context.WithTimeout(ctx, tabWait)
	defer cancel()
	err := r.edge.CloseTab(ctx, name)
	r.mu.Lock()
	if err != nil {
		q.fail(err)
	} else {
		q.reply(result)
	}
	r.mu.Unlock()
	r.look()
}
