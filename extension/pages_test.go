package extension_test

import (
	"fmt"
	"net/http"
	"strings"
)

// special serves the pages that need more than a form and links.
func (w *world) special(out http.ResponseWriter, r *http.Request) bool {
	elsewhere := "http://" + strings.Replace(r.Host, "127.0.0.1", "localhost", 1) // another site to Chrome
	out.Header().Set("Content-Type", "text/html; charset=utf-8")
	switch r.URL.Path {
	case "/worker.js":
		out.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(out, "postMessage('running'); onmessage = e => postMessage(e.data);")
	case "/family": // a frame of another site and a worker
		_, _ = fmt.Fprintf(out, `<!doctype html><title>Family</title><iframe src="%s/inner"></iframe>
<script>const work = () => { const worker = new Worker('/worker.js'); worker.onmessage = e => { window.heard = e.data }; return worker }; work();
const frame = () => { const made = document.createElement('iframe'); made.src = '%[1]s/late'; made.onload = () => { window.loaded = true }; document.body.append(made) }</script>`, elsewhere)
	case "/cookies":
		http.SetCookie(out, &http.Cookie{Name: "sid", Value: "secret-of-server", HttpOnly: true, Path: "/"})
		_, _ = fmt.Fprint(out, `<!doctype html><title>Cookies</title>`)
	case "/quiet": // nothing moves in it
		_, _ = fmt.Fprint(out, `<!doctype html><title>Quiet</title><p>Still`)
	case "/redirected":
		http.Redirect(out, r, elsewhere+"/"+secret, http.StatusFound)
	default:
		return false
	}
	return true
}
