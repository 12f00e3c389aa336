package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"chaperone/server"
	"chaperone/server/fault"
)

// client speaks to one server's API.
type client struct {
	base  string
	token string
	http  *http.Client
	// address is where the server is reached by other programs; secret is how a shell has the token.
	address, secret string
}

// dial finds the server: the one of the data folder on this machine, else the one that CHAPERONE_URL names.
func (a *app) dial() (*client, error) {
	base := strings.TrimSuffix(os.Getenv("CHAPERONE_URL"), "/")
	info, err := server.ReadInfo(a.data)
	if err == nil {
		if base != "" && base != strings.TrimSuffix(info.URL, "/") {
			a.note("this machine's own server answers (" + info.URL + "), not CHAPERONE_URL; set CHAPERONE_DATA to an empty folder to reach the other")
		}
		return localClient(a.data, info)
	}
	if base == "" {
		return nil, err
	}
	if u, err := url.Parse(base); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, usagef("CHAPERONE_URL is %q, which is no address such as http://127.0.0.1:7788", base)
	}
	token := os.Getenv("CHAPERONE_TOKEN")
	if token == "" {
		return nil, fault.New(fault.Unauthorised, "CHAPERONE_TOKEN is not set", "Make a token with: chaperone token create, on the server's machine.")
	}
	return &client{base: base, token: token, http: &http.Client{CheckRedirect: stay}, address: base, secret: tokenOfEnvironment}, nil
}

const tokenOfEnvironment = "$CHAPERONE_TOKEN"

// localClient speaks over the server's private socket, as CHAPERONE_TOKEN or as the machine's own token.
func localClient(data string, info server.Info) (*client, error) {
	token, secret := os.Getenv("CHAPERONE_TOKEN"), tokenOfEnvironment
	if token == "" {
		file := filepath.Join(data, server.TokenFile)
		raw, err := os.ReadFile(file) //nolint:gosec // the data folder is the person's
		if err != nil {
			return nil, fault.New(fault.Unauthorised, "the data folder's token cannot be read", "Run as the user who runs the server, or set CHAPERONE_TOKEN.")
		}
		token, secret = strings.TrimSpace(string(raw)), "$(cat '"+file+"')"
	}
	var dialer net.Dialer
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "unix", info.Socket)
	}}
	spoken := &http.Client{Transport: transport, CheckRedirect: stay}
	return &client{base: "http://chaperone", token: token, http: spoken, address: info.URL, secret: secret}, nil
}

// stay follows no redirect: a token goes to the server that was named and to no other.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// call asks the API and returns its answer's bytes. body may be nil. A refusal is its *fault.Fault.
func (c *client) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	response, err := c.send(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, refused(response, raw)
	}
	return raw, nil
}

// download writes an answer to w as it comes.
func (c *client) download(ctx context.Context, path string, w io.Writer) error {
	response, err := c.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode >= http.StatusMultipleChoices {
		raw, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("read answer: %w", err)
		}
		return refused(response, raw)
	}
	if _, err := io.Copy(w, response.Body); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// send asks the API; the caller closes the answer's body.
func (c *client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	if body == nil {
		return c.exchange(ctx, method, path, nil, nil)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return c.exchange(ctx, method, path, http.Header{"Content-Type": {"application/json"}}, raw)
}

// exchange sends bytes as they are; the caller closes the answer's body.
func (c *client) exchange(ctx context.Context, method, path string, header http.Header, content []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(content))
	if err != nil {
		return nil, usagef("%s is not a server's address", c.base)
	}
	maps.Copy(request.Header, header)
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return response, nil
}

func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	message := "the server does not answer"
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		message = "no server is listening at " + c.address
	}
	return fault.New(fault.NotConnected, message, "Start one with: chaperone serve")
}

// refused is the fault that an answer tells, whatever stands between us and the server.
func refused(response *http.Response, raw []byte) error {
	var body struct {
		Error fault.Fault `json:"error"`
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Error.Code == "" {
		return fault.New(fault.Unavailable, "the server answered "+response.Status, "See CHAPERONE_URL: is it Chaperone's address?")
	}
	told := fault.New(body.Error.Code, body.Error.Message, body.Error.Hint).WithDetail(body.Error.Detail)
	return refusal{told, raw}
}

// refusal is a fault that the API told, and its own JSON.
type refusal struct {
	told *fault.Fault
	raw  []byte
}

func (r refusal) Error() string { return r.told.Error() }
func (r refusal) Unwrap() error { return r.told }

// get asks and decodes.
func get[T any](ctx context.Context, c *client, path string) (T, error) {
	return ask[T](ctx, c, http.MethodGet, path, nil)
}

func ask[T any](ctx context.Context, c *client, method, path string, body any) (T, error) {
	var answer T
	raw, err := c.call(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, fmt.Errorf("decode answer: %w", err)
	}
	return answer, nil
}

// projectName is the project that a command is for: the one named, else the token's own, else the default.
func (c *client) projectName(ctx context.Context, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	me, err := get[struct {
		Project string `json:"project"`
	}](ctx, c, "/api/v1/me")
	return cmp.Or(me.Project, "default"), err
}
