package chrome_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"chaperone/server/chrome"
)

func TestMessagesAreSplitAtNul(t *testing.T) {
	long := strings.Repeat("x", 100)
	for name, c := range map[string]struct {
		in   string
		want []string
		end  error
	}{
		"nothing":                    {"", nil, io.EOF},
		"two messages":               {"{}\x00[1]\x00", []string{"{}", "[1]"}, io.EOF},
		"an end inside a message":    {"{}\x00{", []string{"{}"}, io.ErrUnexpectedEOF},
		"as long as is allowed":      {long + "\x00", []string{long}, io.EOF},
		"longer, then another":       {long + "x\x00{}\x00", []string{"long " + long, "{}"}, io.EOF},
		"an empty message is passed": {"\x00", []string{""}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			got, end := split(c.in, len(long))
			for i := range got {
				if strings.HasPrefix(got[i], "long ") {
					got[i] = got[i][:len("long ")+len(long)]
				}
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) || !errors.Is(end, c.end) {
				t.Errorf("got %q, %v", got, end)
			}
		})
	}
}

func split(in string, maxBytes int) ([]string, error) {
	frames := chrome.NewFrameReader(iotest(in), maxBytes)
	var got []string
	for {
		text, err := frames.Next()
		switch {
		case errors.Is(err, chrome.ErrTooLong):
			got = append(got, "long "+string(text))
		case err != nil:
			return got, err
		default:
			got = append(got, string(text))
		}
	}
}

// iotest gives a byte at a time, the worst a pipe can do.
func iotest(in string) io.Reader { return io.MultiReader(bytewise(in)...) }

func bytewise(in string) []io.Reader {
	all := make([]io.Reader, len(in))
	for i := range in {
		all[i] = strings.NewReader(in[i : i+1])
	}
	return all
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("{}\x00{\"id\":1}\x00"), 5)
	f.Add([]byte(strings.Repeat("x", 300)+"\x00"), 20)
	f.Fuzz(func(t *testing.T, in []byte, maxBytes int) {
		if maxBytes < 0 || maxBytes > 1<<16 {
			return
		}
		frames := chrome.NewFrameReader(bytes.NewReader(in), maxBytes)
		whole := bytes.Split(in, []byte{0})
		for i := 0; ; i++ {
			text, err := frames.Next()
			switch {
			case errors.Is(err, chrome.ErrTooLong):
				if len(whole[i]) <= maxBytes || !bytes.HasPrefix(append(whole[i], 0), text) {
					t.Fatalf("message %d of %d bytes is called too long for %d: %q", i, len(whole[i]), maxBytes, text)
				}
			case err != nil:
				if i != len(whole)-1 {
					t.Fatalf("stopped at message %d of %d: %v", i, len(whole)-1, err)
				}
				return
			case !bytes.Equal(text, whole[i]):
				t.Fatalf("message %d is %q, want %q", i, text, whole[i])
			}
		}
	})
}

func FuzzOrders(f *testing.F) {
	f.Add([]byte(`{"id":1,"forward":"/tmp/x"}`))
	f.Add([]byte(`{"id":2,"start":{"path":"/bin/true","args":[],"env":[],"dir":"/"}}`))
	f.Fuzz(func(_ *testing.T, line []byte) { _, _ = chrome.DecodeOrder(line) })
}
