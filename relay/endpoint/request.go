package endpoint

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"chaperone/relay/cdp"
)

// request is one command of a client. It is answered exactly once.
type request struct {
	router  *router
	client  *client
	at      *attachment // nil at the browser level
	session string      // the client's TargetSession as it is told back
	id      []byte
	method  string
	params  []byte
	size    int
	isRead  bool    // its answer is one that the client reads as a stream
	isDown  bool    // it is for a tab to answer
	counted *budget // where it counts as unanswered; nil: nowhere
	isDone  bool
}

// serving serves a command. router.mu is held, so it never waits, and does nothing that takes longer for a longer
// command: whatever is in one is read before.
type serving func(r *router, q *request)

// answer reads a command without router.mu, and answers what serves it.
type answer func(q *request) (serving, error)

// maxOwnParams bounds the parameters of what the router reads itself, in bytes.
const maxOwnParams = 64 << 10

// plain is an answer to a command without parameters, or that are not looked at.
func plain(serve serving) answer {
	return func(*request) (serving, error) { return serve, nil }
}

// with is an answer to a command with parameters.
func with[P any](serve func(r *router, q *request, params P)) answer {
	return func(q *request) (serving, error) {
		var params P
		if len(q.params) > maxOwnParams {
			return nil, refusal("the parameters of %s may have %d KiB", q.method, maxOwnParams>>10)
		}
		if len(q.params) > 0 && json.Unmarshal(q.params, &params) != nil {
			return nil, errParams(q.method)
		}
		return func(r *router, q *request) { serve(r, q, params) }, nil
	}
}

func errParams(method string) *failure {
	return &failure{Code: codeParams, Message: "Invalid parameters: " + method}
}

// reply answers with a result's JSON; router.mu is held.
func (q *request) reply(result []byte) { q.answer(replyFrame(q.id, q.session, result)) }

// fail answers with an error; router.mu is held.
func (q *request) fail(err error) { q.answer(failureFrame(q.id, q.session, failureOf(err))) }

func (q *request) answer(f frame) {
	if q.isDone {
		return
	}
	q.isDone = true
	if q.counted != nil {
		q.counted.give(q.size)
	}
	q.client.send(f)
}

// done answers as Chrome does when there is nothing to say.
func (q *request) done(err error) {
	if err != nil {
		q.fail(err)
		return
	}
	q.reply(nil)
}

// take acts on one message of a client. isServed is false when clients cannot be served any more. It is called by the
// client's reader alone.
func (r *router) take(c *client, raw []byte) (isServed, isRefused bool) {
	message, err := cdp.Scan(raw)
	q := &request{
		router: r, client: c, session: message.Session, id: bytes.Clone(message.ID), method: message.Method,
		params: message.Params, size: len(raw),
	}
	serve, refused := r.judge(q, err)
	if refused == nil {
		refused = q.count()
	}
	if !r.record(q, raw, refused != nil) {
		return false, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case c.gone || r.isOver:
		q.answer(frame{})
	case refused != nil:
		q.fail(refused)
	case message.Session != "" && c.sessions[message.Session] != q.at:
		q.fail(errNoSession())
	default:
		serve(r, q)
	}
	return true, refused != nil
}

// count takes a permitted command into its budget. One for a tab is refused where there is no room: nobody knows
// whether the tab ever answers.
func (q *request) count() error {
	if q.isDown {
		if !q.client.down.tryTake(q.size) {
			return errTooMuch()
		}
		q.counted = q.client.down
	} else if q.client.own.take(q.client.over, q.size) {
		q.counted = q.client.own
	}
	return nil
}

// judge says who serves a command, or why nobody does.
func (r *router) judge(q *request, malformed error) (serving, error) {
	if malformed != nil {
		return nil, errMalformed(malformed)
	}
	if !r.place(q) {
		q.session = ""
		return nil, errNoSession()
	}
	if q.at == nil {
		if read := r.answers[q.method]; read != nil {
			return read(q)
		}
		return nil, r.errUnknown(q)
	}
	return r.judgeAt(q)
}

// judgeAt judges what is said in a target's session.
func (r *router) judgeAt(q *request) (serving, error) {
	if read := r.pageOwn[q.method]; read != nil {
		return read(q)
	}
	if read := r.answers[q.method]; read != nil {
		return read(q)
	}
	if q.at.target.isWrapper() {
		return nil, r.errUnknown(q)
	}
	if isNoPlace(q.method, q.params) || isOwnAgent(q.method, q.params, r.version().UserAgent) {
		return nothing, nil
	}
	q.params, q.isRead = asOneAnswer(q.method, q.params)
	if verdict := r.options.Judge.Raw(r.options.Level, q.method, q.params); !verdict.Allowed() {
		return nil, refusal("%s", verdict.Reason)
	}
	q.params = r.options.Judge.ToSend(q.method, q.params)
	q.isDown = true
	return r.readForward(q)
}

// errUnknown says why a command is not served where it was given: nowhere, in the judge's words, or only in a page.
func (r *router) errUnknown(q *request) *failure {
	why := q.method + " is for the session of a page: attach to one first"
	if verdict := r.options.Judge.Raw(r.options.Level, q.method, q.params); !verdict.Allowed() {
		why = verdict.Reason
	}
	return &failure{Code: codeUnknown, Message: "Chaperone: " + why}
}

// place finds the attachment that the command is for.
func (r *router) place(q *request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.session == "" {
		q.at = q.client.page
		return true
	}
	q.at = q.client.sessions[q.session]
	_, isBrowser := q.client.browsers[q.session]
	return q.at != nil || isBrowser
}

// record tells the recorder; after an error clients are served no more.
func (r *router) record(q *request, raw []byte, isRefused bool) bool {
	if r.options.Recorder == nil {
		return true
	}
	command := Command{
		Client: q.client.number, Method: q.method, Writes: r.options.Judge.Writes(q.method), Refused: isRefused, Raw: raw,
	}
	command.Tab, command.URL = r.whereabouts(q.at)
	if err := r.options.Recorder.Record(command); err != nil {
		r.log.Error("cdp command not recorded", slog.Any("error", err))
		r.end("what clients do cannot be recorded")
		return false
	}
	return true
}

func (r *router) whereabouts(at *attachment) (name, url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at == nil {
		return "", ""
	}
	return at.target.tab.known.ID, at.target.tab.known.URL
}
