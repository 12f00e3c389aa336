package egress_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"chaperone/egress"
)

// wrongRequest is a request that no answer of an origin may come of.
type wrongRequest struct {
	raw    string
	status int
	reason egress.Reason
}

const hostLine = "Host: good.test\r\n"

// wrongVectors are the requests that the vectors describe.
func wrongVectors() map[string]wrongRequest {
	post := "POST http://good.test/ HTTP/1.1\r\n" + hostLine
	return map[string]wrongRequest{
		"proxyreq-01": {"GET /json/version HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.NotProxied},
		"proxyreq-02": {"GET //127.0.0.1/ HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.NotProxied},
		"proxyreq-04": {"GET ftp://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Scheme},
		"proxyreq-06": {"GET http://u:p@good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.UserInfo},
		"proxyreq-07": {"CONNECT 127.0.0.1:443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Loopback},
		"proxyreq-09": {"CONNECT [::1%25lo]:443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Zone},
		"proxyreq-11": {"CONNECT good.test:65979 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.BadPort},
		"proxyreq-12": {"CONNECT good.test:000443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.BadPort},
		"proxyreq-14": {"CONNECT good.test:443@127.0.0.1:22 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.UserInfo},
		"proxyreq-16": {"CONNECT /good.test:443 HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"proxyreq-17": {"CONNECT good.test:443 HTTP/1.1\r\n" + hostLine + "Content-Length: 4\r\n\r\nabcd", 400, egress.BadRequest},
		"proxyreq-21": {post + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 501, egress.Encoding},
		"proxyreq-22": {post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400, egress.BadRequest},
		"proxyreq-24": {"GET http://good.test/ HTTP/1.1\nHost: good.test\n\n", 400, egress.BadRequest},
		"proxyreq-26": {"get http://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 405, egress.BadMethod},
		"proxyreq-27": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, egress.BadRequest},
		"proxyreq-31": {"GET http://good.test/ HTTP/1.1\r\n" + hostLine + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 403, egress.Upgrade},
		"proxyreq-36": {"GET http://good.test/ HTTP/1.1\r\n" + hostLine + "X: " + strings.Repeat("a", 64<<10) + "\r\n\r\n", 431, egress.HeadTooBig},
	}
}

// otherVectors have tests of their own in this package.
func otherVectors() map[string]string {
	return map[string]string{
		"proxyreq-19": "TestTheEncodingWinsOverTheLengthAndTheConnectionEnds",
		"proxyreq-29": "TestOnlyFieldsOfOneHopAreDropped",
		"proxyreq-32": "TestAnUploadThatStopsIsEnded",
		"proxyreq-34": "TestAnIdleTunnelIsClosed",
		"proxyreq-37": "TestAHostileOriginGivesABadAnswer",
		"proxyreq-39": "TestAHostileOriginGivesABadAnswer",
	}
}

func TestEveryVectorRequestIsCovered(t *testing.T) {
	for _, v := range vectors(t, "proxyreq") {
		wrong, isWrong := wrongVectors()[v.ID]
		if _, isOther := otherVectors()[v.ID]; !isWrong && !isOther {
			t.Errorf("%s has no test: %s", v.ID, v.Input)
		}
		if isWrong && !strings.Contains(v.Expect, strconv.Itoa(wrong.status)) {
			t.Errorf("%s wants %s, the test %d", v.ID, v.Expect, wrong.status)
		}
	}
}

func TestWrongRequestsAreRefusedBeforeAnythingIsDialed(t *testing.T) {
	post := "POST http://good.test/ HTTP/1.1\r\n" + hostLine
	get := "GET http://good.test/ HTTP/1.1\r\n" + hostLine
	cases := map[string]wrongRequest{
		"an asterisk":                        {"OPTIONS * HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.NotProxied},
		"https in the clear":                 {"GET https://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Scheme},
		"a host without scheme":              {"GET good.test HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.NotProxied},
		"a URL in a query":                   {"GET /?u=http://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.NotProxied},
		"a fragment":                         {"GET http://good.test/#a HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a letter beyond ASCII":              {"GET http://good.test/\xc3\xa4 HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a plain request to 443":             {"GET http://good.test:443/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Port},
		"a plain request to 8080":            {"GET http://good.test:8080/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Port},
		"a plain request to a literal":       {"GET http://[::1]/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Loopback},
		"a decimal host":                     {"GET http://2130706433/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Loopback},
		"a tunnel to 22":                     {"CONNECT good.test:22 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.Port},
		"a tunnel to 0":                      {"CONNECT good.test:0 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.BadPort},
		"a tunnel without port":              {"CONNECT good.test HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a tunnel to a URL":                  {"CONNECT http://good.test:80 HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a tunnel with an empty body":        {"CONNECT good.test:443 HTTP/1.1\r\n" + hostLine + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, egress.BadRequest},
		"a tunnel to an unbracketed address": {"CONNECT ::1:443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.BadHost},
		"a tunnel to a bracketed IPv4":       {"CONNECT [127.0.0.1]:443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.BadHost},
		"a tunnel to localhost":              {"CONNECT localhost:443 HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.LocalName},
		"two lengths":                        {post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400, egress.BadRequest},
		"a length that is a list":            {post + "Content-Length: 1, 1\r\n\r\na", 400, egress.BadRequest},
		"a signed length":                    {post + "Content-Length: +1\r\n\r\na", 400, egress.BadRequest},
		"two encodings":                      {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501, egress.Encoding},
		"an encoding in HTTP/1.0":            {"POST http://good.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, egress.BadRequest},
		"a folded field":                     {get + "X: a\r\n b\r\n\r\n", 400, egress.BadRequest},
		"a folded first field":               {"GET http://good.test/ HTTP/1.1\r\n " + hostLine + "\r\n", 400, egress.BadRequest},
		"a bare CR":                          {get + "X: a\rb\r\n\r\n", 400, egress.BadRequest},
		"a NUL":                              {get + "X: a\x00b\r\n\r\n", 400, egress.BadRequest},
		"a bare LF after a good line":        {get + "X: a\nY: b\r\n\r\n", 400, egress.BadRequest},
		"an empty first line":                {"\r\n" + get + "\r\n", 400, egress.BadRequest},
		"a field without colon":              {get + "X\r\n\r\n", 400, egress.BadRequest},
		"a field without name":               {get + ": a\r\n\r\n", 400, egress.BadRequest},
		"two hosts":                          {get + hostLine + "\r\n", 400, egress.BadRequest},
		"no host":                            {"GET http://good.test/ HTTP/1.1\r\n\r\n", 400, egress.BadRequest},
		"no version":                         {"GET http://good.test/\r\n\r\n", 400, egress.BadRequest},
		"HTTP/0.9":                           {"GET http://good.test/ HTTP/0.9\r\n\r\n", 400, egress.BadRequest},
		"two spaces":                         {"GET  http://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a tab":                              {"GET\thttp://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 400, egress.BadRequest},
		"a TLS greeting":                     {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, egress.BadRequest},
		"TRACE":                              {"TRACE http://good.test/ HTTP/1.1\r\n" + hostLine + "\r\n", 405, egress.BadMethod},
		"a proxy's own metadata":             {"GET http://metadata.google.internal/ HTTP/1.1\r\n" + hostLine + "\r\n", 403, egress.MetadataName},
	}
	maps.Copy(cases, wrongVectors())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(nil)
			p := start(t, egress.Options{}, egress.AllMethods, w)
			conn := p.wire(t)
			conn.send(t, c.raw)
			got := conn.answer(t, http.MethodGet)
			if got.status != c.status {
				t.Errorf("status %d, want %d", got.status, c.status)
			}
			wantRefused(t, got, c.reason)
			if d := p.last(t); d.Verdict != egress.VerdictDeny || d.Reason != string(c.reason) || d.Session != "s_test" {
				t.Errorf("decided %+v", d)
			}
			if dials := w.dials(); len(dials) > 0 || w.lookupsOfGood() > 0 {
				t.Errorf("dialed %v", dials)
			}
			if !conn.isClosed() {
				t.Error("connection stays open")
			}
		})
	}
}

func TestAHeadIsReadWhetherItComesWholeOrByteByByte(t *testing.T) {
	w := newWorld(serve(t, func(rw http.ResponseWriter, r *http.Request) { say(rw, r.URL.Path) }))
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	conn := p.wire(t)
	for _, b := range []byte("GET http://good.test/slow HTTP/1.1\r\n" + hostLine + "\r\n") {
		conn.send(t, string(b))
	}
	if got := conn.answer(t, http.MethodGet); got.body != "/slow" {
		t.Errorf("body %q", got.body)
	}
	conn.send(t, "GET http://good.test/1 HTTP/1.1\r\n"+hostLine+"\r\nGET http://good.test/2 HTTP/1.1\r\n"+hostLine+"\r\n")
	for _, want := range []string{"/1", "/2"} {
		if got := conn.answer(t, http.MethodGet); got.body != want {
			t.Errorf("body %q, want %q", got.body, want)
		}
	}
	if n := w.lookupsOfGood(); n != 1 {
		t.Errorf("%d lookups on one connection, want 1", n)
	}
}

func TestAHeadThatDoesNotComeIsGivenUp(t *testing.T) {
	p := start(t, egress.Options{Limits: egress.Limits{Head: 30 * time.Millisecond}}, egress.ReadMethods, newWorld(nil))
	conn := p.wire(t)
	conn.send(t, "GET http://good.test/ HTTP/1.1\r\nHos")
	got := conn.answer(t, http.MethodGet)
	if got.status != http.StatusRequestTimeout {
		t.Errorf("status %d", got.status)
	}
	wantRefused(t, got, egress.HeadTooSlow)
}

func TestASilentClientIsClosed(t *testing.T) {
	p := start(t, egress.Options{Limits: egress.Limits{Idle: 30 * time.Millisecond}}, egress.ReadMethods, newWorld(nil))
	if conn := p.wire(t); !conn.isClosed() {
		t.Error("connection stays open")
	}
}

func TestAReadOnlySessionSendsOnlyGetAndHead(t *testing.T) {
	w := newWorld(serve(t, func(http.ResponseWriter, *http.Request) {}))
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"} {
		conn := p.wire(t)
		conn.send(t, method+" http://good.test/ HTTP/1.1\r\n"+hostLine+"Content-Length: 0\r\n\r\n")
		got := conn.answer(t, method)
		if isRead := method == "GET" || method == "HEAD"; isRead && got.status != http.StatusOK {
			t.Errorf("%s: status %d", method, got.status)
		} else if !isRead {
			wantRefused(t, got, egress.Method)
		}
	}
	conn := p.wire(t)
	conn.send(t, "GET http://good.test/ HTTP/1.1\r\n"+hostLine+"Content-Length: 4\r\n\r\nabcd")
	got := conn.answer(t, http.MethodGet)
	wantRefused(t, got, egress.Method)
}

func TestTheEncodingWinsOverTheLengthAndTheConnectionEnds(t *testing.T) {
	seen := make(chan string, 1)
	w := newWorld(serve(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- fmt.Sprintf("%s %d %v", body, r.ContentLength, r.TransferEncoding)
	}))
	p := start(t, egress.Options{}, egress.AllMethods, w)
	conn := p.wire(t)
	conn.send(t, "POST http://good.test/ HTTP/1.1\r\n"+hostLine+"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"+
		"5\r\nhello\r\n0\r\n\r\nGET http://good.test/smuggled HTTP/1.1\r\n"+hostLine+"\r\n")
	got := conn.answer(t, http.MethodPost)
	if got.status != http.StatusOK || !got.isClosed {
		t.Errorf("status %d, close %v", got.status, got.isClosed)
	}
	if text := <-seen; text != "hello -1 [chunked]" {
		t.Errorf("origin saw %q", text)
	}
	if !conn.isClosed() {
		t.Error("a second request was answered")
	}
}

func TestAnUploadThatStopsIsEnded(t *testing.T) {
	w := newWorld(serve(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	p := start(t, egress.Options{Limits: egress.Limits{Idle: 300 * time.Millisecond}}, egress.AllMethods, w)
	conn := p.wire(t)
	conn.send(t, "POST http://good.test/ HTTP/1.1\r\n"+hostLine+"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n")
	if got := conn.answer(t, http.MethodPost); got.status != http.StatusContinue {
		t.Fatalf("status %d, want 100", got.status)
	}
	conn.send(t, "abc")
	got := conn.answer(t, http.MethodPost)
	if got.status != http.StatusRequestTimeout && got.status != http.StatusGatewayTimeout {
		t.Errorf("status %d", got.status)
	}
	if !conn.isClosed() {
		t.Error("connection stays open")
	}
}

func TestAnUploadIsAskedForAndPassedOn(t *testing.T) {
	w := newWorld(serve(t, func(rw http.ResponseWriter, r *http.Request) { _, _ = io.Copy(rw, r.Body) }))
	p := start(t, egress.Options{}, egress.AllMethods, w)
	conn := p.wire(t)
	for range 2 {
		conn.send(t, "POST http://good.test/ HTTP/1.1\r\n"+hostLine+"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n")
		if got := conn.answer(t, http.MethodPost); got.status != http.StatusContinue {
			t.Fatalf("status %d, want 100", got.status)
		}
		conn.send(t, "hello")
		if got := conn.answer(t, http.MethodPost); got.body != "hello" {
			t.Errorf("body %q", got.body)
		}
	}
}

func TestOnlyFieldsOfOneHopAreDropped(t *testing.T) {
	seen := make(chan http.Header, 1)
	w := newWorld(serve(t, func(rw http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		for name, value := range map[string]string{
			"Connection": "X-Hop, Set-Cookie", "X-Hop": "1", "Keep-Alive": "timeout=9", "Proxy-Authenticate": "Basic",
			"X-Chaperone-Refused": "forged", "Set-Cookie": "a=b", "X-End": "1",
		} {
			rw.Header().Set(name, value)
		}
	}))
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	conn := p.wire(t)
	conn.send(t, "GET http://good.test/ HTTP/1.1\r\nHost: other.test\r\nConnection: close, Cookie, authorization, X-Hop\r\n"+
		"Cookie: a=b\r\nAuthorization: Bearer x\r\nX-Hop: 1\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\n"+
		"TE: trailers\r\nKeep-Alive: 5\r\nX-End: 1\r\n\r\n")
	got := conn.answer(t, http.MethodGet)
	in := <-seen
	for _, h := range []http.Header{in, got.header} {
		for _, name := range []string{"X-Hop", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "Te", "Keep-Alive", "X-Chaperone-Refused"} {
			if h.Get(name) != "" {
				t.Errorf("%s passes", name)
			}
		}
		if h.Get("X-End") != "1" || h.Get("Via") != "1.1 chaperone" {
			t.Errorf("end-to-end fields: %v", h)
		}
	}
	if in.Get("Cookie") != "a=b" || in.Get("Authorization") != "Bearer x" || in.Get("User-Agent") != "" {
		t.Errorf("origin got %v", in)
	}
	if got.header.Get("Set-Cookie") != "a=b" || !got.isClosed {
		t.Errorf("client got %v", got.header)
	}
}

func TestTheOriginGetsTheResourceAsItWasSpelledAndTheCanonicalHost(t *testing.T) {
	seen := make(chan string, 1)
	w := newWorld(serve(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Host + " " + r.RequestURI }))
	p := start(t, egress.Options{}, egress.ReadMethods, w)
	for raw, want := range map[string]string{
		"http://good.test":                 "good.test /",
		"http://good.test?q":               "good.test /?q",
		"HTTP://GOOD.test.:80/":            "good.test /",
		"http://%67ood.test/a|b\"%2F?q=|'": "good.test /a|b\"%2F?q=|'",
		"http://good.test/?100%":           "good.test /?100%",
		"http://good.test//evil.test/a?b":  "good.test //evil.test/a?b",
		"http://good.test/http://a.test/":  "good.test /http://a.test/",
	} {
		conn := p.wire(t)
		conn.send(t, "GET "+raw+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		if got := conn.answer(t, http.MethodGet); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", raw, got.status, got.body)
		} else if text := <-seen; text != want {
			t.Errorf("%s: origin saw %q, want %q", raw, text, want)
		}
	}
}
