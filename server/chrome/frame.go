package chrome

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxMessage bounds one message from Chrome, in bytes: a full-page picture as base64 is some 20 MiB.
const maxMessage = 64 << 20

// keptHead is what is kept of a longer message: enough to tell whose answer it was.
const keptHead = 256

// errTooLong comes with the head of a message that was longer than allowed; the stream goes on after it.
var errTooLong = errors.New("message is too long")

// frameReader splits what Chrome writes on its pipe: JSON texts, each ended by a NUL byte.
type frameReader struct {
	in  *bufio.Reader
	max int
}

func newFrameReader(r io.Reader, maxBytes int) *frameReader {
	return &frameReader{in: bufio.NewReaderSize(r, 64<<10), max: maxBytes}
}

// next returns one message without its NUL. A stream that ends inside a message ends with
// io.ErrUnexpectedEOF.
func (f *frameReader) next() ([]byte, error) {
	var message []byte
	total := 0
	for {
		part, err := f.in.ReadSlice(0)
		total += len(part)
		if total <= f.max+1 || len(message) < keptHead {
			message = append(message, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && total > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case total > f.max+1:
			return message[:min(keptHead, len(message))], errTooLong
		}
		return bytes.TrimSuffix(message, []byte{0}), nil
	}
}

// idOf reads the id at the start of a cut-off reply; 0 where there is none.
func idOf(head []byte) int {
	var id int
	if _, err := fmt.Sscanf(string(head), `{"id":%d,`, &id); err != nil {
		return 0
	}
	return id
}
