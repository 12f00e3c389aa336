package endpoint

import (
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

// answer serves a command without asking a browser, or before it does. router.mu is held.
type answer func(r *router, q *request)

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

// into reads the command's parameters, and answers the request when they do not fit.
func (q *request) into(params any) bool {
	if len(q.params) == 0 {
		return true
	}
	if err := json.Unmarshal(q.params, params); err != nil {
		q.fail(&failure{Code: codeParams, Message: "Invalid parameters: " + q.method})
		return false
	}
	return true
}

// take acts on one message of a client. It answers false when clients cannot be served any more. It is called by the
// client's reader alone.
func (r *router) take(c *client, raw []byte) bool {
	message, err := cdp.Scan(raw)
	q := &request{
		router: r, client: c, session: message.Session, id: message.ID, method: message.Method,
		params: message.Params, size: len(raw),
	}
	serve, refused := r.judge(q, err)
	if refused == nil {
		refused = q.count()
	}
	if !r.record(q, raw, refused != nil) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case c.gone:
		q.answer(frame{})
	case refused != nil:
		q.fail(refused)
	case message.Session != "" && c.sessions[message.Session] != q.at:
		q.fail(errNoSession())
	default:
		serve(r, q)
	}
	return true
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
func (r *router) judge(q *request, malformed error) (answer, error) {
	if malformed != nil {
		return nil, errMalformed(malformed)
	}
	if !r.place(q) {
		q.session = ""
		return nil, errNoSession()
	}
	if q.at == nil {
		if serve := r.answers[q.method]; serve != nil {
			return serve, nil
		}
		return nil, r.errUnknown(q)
	}
	return r.judgeAt(q)
}

// judgeAt judges what is said in a target's session.
func (r *router) judgeAt(q *request) (answer, error) {
	if serve := r.pageOwn[q.method]; serve != nil {
		return serve, nil
	}
	if serve := r.answers[q.method]; serve != nil {
		return serve, nil
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
	return forward, nil
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
