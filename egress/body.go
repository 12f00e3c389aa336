package egress

import (
	"bufio"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
)

// maxTrailers bounds the trailer fields of a chunked request. They are dropped, as a proxy may (RFC 9110
// section 6.5.1).
const maxTrailers = 32

var errTrailers = errors.New("trailer section is malformed or too long")

// body reads what follows the head, and not a byte more. It ends with io.EOF only when it is whole.
func (h *head) body(in *bufio.Reader) io.Reader {
	if h.isChunked {
		return &chunkedBody{chunks: httputil.NewChunkedReader(in), in: in}
	}
	return &sizedBody{io.LimitedReader{R: in, N: h.length}}
}

type sizedBody struct{ rest io.LimitedReader }

func (b *sizedBody) Read(p []byte) (int, error) {
	n, err := b.rest.Read(p)
	if errors.Is(err, io.EOF) && b.rest.N > 0 {
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

type chunkedBody struct {
	chunks io.Reader
	in     *bufio.Reader
	end    error // what a Read after the last one says
}

func (b *chunkedBody) Read(p []byte) (int, error) {
	if b.end != nil {
		return 0, b.end
	}
	n, err := b.chunks.Read(p)
	if errors.Is(err, io.EOF) {
		err = skipTrailers(b.in)
	}
	b.end = err
	return n, err
}

// skipTrailers returns io.EOF after the empty line that ends the section.
func skipTrailers(in *bufio.Reader) error {
	for range maxTrailers {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case string(line) == "\r\n":
			return io.EOF
		case !strings.HasSuffix(string(line), "\r\n"):
			return errTrailers
		}
	}
	return errTrailers
}
