package endpoint

import (
	"encoding/base64"
	"encoding/json"
)

const (
	// maxStreams a client may have open, and maxStreamBytes in them; beyond, it closes one first.
	maxStreams     = 4
	maxStreamBytes = 64 << 20
	// streamPiece is what one IO.read brings unless it asks for less.
	streamPiece = 1 << 20
)

// stream is a printed page that a client reads piece by piece. No browser has it: the page came as one answer.
type stream struct {
	data []byte
	next int
}

// asOneAnswer turns a wish to read the printed page as a stream, which is how Playwright and Puppeteer always ask, into
// one for a single answer: streams of the browser itself hold files and traces.
func asOneAnswer(method string, params []byte) ([]byte, bool) {
	if method != "Page.printToPDF" {
		return params, false
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(params, &fields) != nil || textOf(fields["transferMode"]) != "ReturnAsStream" {
		return params, false
	}
	fields["transferMode"] = encode("ReturnAsBase64")
	return encode(fields), true
}

// print passes Page.printToPDF on and keeps what it gives for IO.read.
func (r *router) print(q *request) {
	r.passAs(q, q.params, func(result []byte, err error) {
		var printed struct {
			Data []byte `json:"data"`
		}
		if err == nil && json.Unmarshal(result, &printed) != nil {
			err = refusal("the printed page cannot be read")
		}
		if err == nil {
			err = q.client.hasRoomFor(len(printed.Data))
		}
		if err != nil {
			q.fail(err)
			return
		}
		handle := newID()
		q.client.streams[handle] = &stream{data: printed.Data}
		q.reply(encode(map[string]string{"data": "", "stream": handle}))
	})
}

func (c *client) hasRoomFor(size int) error {
	held := size
	for _, s := range c.streams {
		held += len(s.data)
	}
	if len(c.streams) >= maxStreams || held > maxStreamBytes {
		return refusal("a client may have %d printed pages of %d MiB together open: close one (IO.close)", maxStreams, maxStreamBytes>>20)
	}
	return nil
}

// reading is what IO.read and IO.close are given.
type reading struct {
	Handle string `json:"handle"`
	Offset *int   `json:"offset"`
	Size   *int   `json:"size"`
}

// streamOf answers the client's stream that a command names, and refuses any other as the judge does.
func (r *router) streamOf(q *request, asked reading) *stream {
	s := q.client.streams[asked.Handle]
	if s == nil {
		q.fail(r.errUnknown(q))
	}
	return s
}

func readStream(r *router, q *request, asked reading) {
	s := r.streamOf(q, asked)
	if s == nil {
		return
	}
	from, most := s.next, streamPiece
	if asked.Offset != nil {
		from = min(max(*asked.Offset, 0), len(s.data))
	}
	if asked.Size != nil {
		most = min(max(*asked.Size, 1), streamPiece)
	}
	s.next = min(from+most, len(s.data))
	q.reply(encode(map[string]any{
		"base64Encoded": true, "data": base64.StdEncoding.EncodeToString(s.data[from:s.next]), "eof": s.next == len(s.data),
	}))
}

func closeStream(r *router, q *request, asked reading) {
	if r.streamOf(q, asked) != nil {
		delete(q.client.streams, asked.Handle)
		q.reply(nil)
	}
}
