package egress

import (
	"bufio"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// head is what a request's first part says about where it goes and how it is framed.
type head struct {
	method, target, version string
	fields                  http.Header
	size                    int // bytes, final empty line included

	// How the message is framed, which the fields do not tell any more once those of one hop are dropped.
	length      int64 // of the body when it is not chunked
	isChunked   bool
	mayContinue bool // whether a request may follow on the connection
}

// smallHead is the buffer that a connection waits with: the heads of most requests fit in it.
const smallHead = 4 << 10

// readHead returns the next request head without consuming it, so that what was vetted is what is parsed
// later. It ends early, not at a time limit, when a byte shows that the head will never be a good one. in's
// buffer is the limit of the head. The reason is empty when the connection ended.
func readHead(in *bufio.Reader) ([]byte, Reason) {
	seen := 0
	for {
		if _, err := in.Peek(seen + 1); err != nil {
			return nil, readReason(err)
		}
		raw, err := in.Peek(in.Buffered())
		if err != nil {
			return nil, BadRequest
		}
		end, reason := scanHead(raw, seen)
		if end > 0 || !reason.IsAllowed() {
			return raw[:end], reason
		}
		seen = len(raw)
	}
}

func readReason(err error) Reason {
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return HeadTooBig
	case errors.Is(err, os.ErrDeadlineExceeded):
		return HeadTooSlow
	default:
		return ""
	}
}

// scanHead looks at raw[from:] for the end of the head, and for a line end that is not CR LF (RFC 9112
// section 2.2 lets a recipient accept a bare LF; the next one may not).
func scanHead(raw []byte, from int) (end int, reason Reason) {
	for i := from; i < len(raw); i++ {
		afterCR := i > 0 && raw[i-1] == '\r'
		switch {
		case raw[i] == '\n' != afterCR, raw[i] == 0:
			return 0, BadRequest
		case raw[i] == '\n' && i >= 3 && raw[i-2] == '\n':
			return i + 1, Allowed
		case raw[i] == '\n' && i == 1:
			return 0, BadRequest
		}
	}
	return 0, Allowed
}

// parseHead vets a whole head, final empty line included.
func parseHead(raw []byte) (head, Reason) {
	lines := strings.Split(strings.TrimSuffix(string(raw), "\r\n\r\n"), "\r\n")
	h, reason := parseRequestLine(lines[0])
	h.size, h.fields = len(raw), http.Header{}
	if !reason.IsAllowed() {
		return h, reason
	}
	for _, line := range lines[1:] {
		name, value, found := strings.Cut(line, ":")
		if !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return h, BadRequest
		}
		h.fields.Add(name, strings.Trim(value, " \t"))
	}
	return h, h.judgeFraming()
}

func parseRequestLine(line string) (head, Reason) {
	parts := strings.Split(line, " ")
	if len(parts) != 3 || !httpguts.ValidHeaderFieldName(parts[0]) || parts[1] == "" {
		return head{}, BadRequest
	}
	h := head{method: parts[0], target: parts[1], version: parts[2]}
	if h.version != "HTTP/1.1" && h.version != "HTTP/1.0" {
		return h, BadRequest
	}
	if h.method != strings.ToUpper(h.method) || h.method == http.MethodTrace || h.method == "TRACK" {
		return h, BadMethod
	}
	return h, Allowed
}

// judgeFraming refuses a message whose end two recipients could see in two places (RFC 9112 sections 3.2 and 6).
func (h *head) judgeFraming() Reason {
	if hosts := len(h.fields["Host"]); hosts > 1 || hosts == 0 && !h.isOld() {
		return BadRequest
	}
	lengths, encodings := h.fields["Content-Length"], h.fields["Transfer-Encoding"]
	isFramed := len(lengths)+len(encodings) > 0
	if isFramed && h.method == http.MethodConnect || len(encodings) > 0 && h.isOld() {
		return BadRequest
	}
	return h.frame(lengths, encodings)
}

// frame notes where the body ends; the encoding wins over the length (RFC 9112 section 6.1).
func (h *head) frame(lengths, encodings []string) Reason {
	length, err := parseLength(lengths)
	if err != nil {
		return BadRequest
	}
	if len(encodings) > 1 || len(encodings) == 1 && !strings.EqualFold(encodings[0], "chunked") {
		return Encoding
	}
	h.length, h.isChunked = length, len(encodings) > 0
	isTwiceFramed := h.isChunked && len(lengths) > 0
	h.mayContinue = !h.isOld() && !isTwiceFramed && !httpguts.HeaderValuesContainsToken(h.fields["Connection"], "close")
	return Allowed
}

var errLength = errors.New("content length is not one number")

func parseLength(values []string) (int64, error) {
	if len(values) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(values[0], 10, 63)
	if err != nil || len(values) > 1 {
		return 0, errLength
	}
	return int64(n), nil
}

// isOld: HTTP/1.0 knows neither chunks nor, without an extension, a second request.
func (h *head) isOld() bool { return h.version == "HTTP/1.0" }

func (h *head) hasBody() bool { return h.isChunked || h.length > 0 }

// judgeRequest holds a request against its identity's rule. A tunnel is not its matter, and a browser asks for
// a tunnel when it wants an upgrade.
func (h *head) judgeRequest(rule MethodRule) Reason {
	isRead := (h.method == http.MethodGet || h.method == http.MethodHead) && !h.hasBody()
	switch {
	case h.method == http.MethodConnect:
		return Allowed
	case len(h.fields["Upgrade"]) > 0:
		return Upgrade
	case isRead, rule == AllMethods:
		return Allowed
	default:
		return Method
	}
}
