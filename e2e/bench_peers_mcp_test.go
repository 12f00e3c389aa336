package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// mcpClient speaks MCP to a server's stdin and stdout, a line a message.
type mcpClient struct {
	in   io.WriteCloser
	out  *bufio.Reader
	last int
}

// startMCP starts a server and opens the conversation; at the bench's end the server's input is closed, as a host does.
func startMCP(b *testing.B, cmd *exec.Cmd) *mcpClient {
	b.Helper()
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	errs := &lockedBuffer{}
	cmd.Stderr = errs
	must(b, cmd.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // how a peer ends is its own matter
		if b.Failed() {
			b.Logf("%s said:\n%s", cmd.Args, errs)
		}
	})
	c := &mcpClient{in: in, out: bufio.NewReader(out)}
	c.ask(b, "initialize", action{
		"protocolVersion": "2025-06-18", "capabilities": action{}, "clientInfo": action{"name": "bench", "version": "1"},
	})
	c.write(b, action{"method": "notifications/initialized"})
	return c
}

// call calls a tool and answers the text of what it says.
func (c *mcpClient) call(b *testing.B, name string, arguments action) string {
	b.Helper()
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	must(b, json.Unmarshal(c.ask(b, "tools/call", action{"name": name, "arguments": arguments}), &result))
	var text strings.Builder
	for _, part := range result.Content {
		text.WriteString(part.Text)
	}
	if result.IsError {
		b.Fatalf("%s %v: %s", name, arguments, text.String())
	}
	return text.String()
}

func (c *mcpClient) ask(b *testing.B, method string, params any) json.RawMessage {
	b.Helper()
	c.last++
	c.write(b, action{"id": c.last, "method": method, "params": params})
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			b.Fatalf("%s: %v", method, err)
		}
		var said struct {
			ID     any
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		must(b, json.Unmarshal(line, &said))
		switch {
		case said.Method != "" && said.ID != nil: // the server asks: it is told that there is nothing here
			c.write(b, action{"id": said.ID, "result": action{}})
		case said.Method != "" || fmt.Sprint(said.ID) != strconv.Itoa(c.last):
		case said.Error != nil:
			b.Fatalf("%s: %s", method, said.Error.Message)
		default:
			return said.Result
		}
	}
}

func (c *mcpClient) write(b *testing.B, message action) {
	b.Helper()
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	must(b, err)
	_, err = c.in.Write(append(line, '\n'))
	must(b, err)
}
