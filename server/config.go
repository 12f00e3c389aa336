package server

import (
	"cmp"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"chaperone/egress"
	"chaperone/server/fault"
)

// Config is what a server is started with; cmd fills it from flags and environment. A zero field takes
// the contract's default.
type Config struct {
	Addr                  string // host:port to listen on; port 0 takes a free one
	Data                  string // the data folder; required
	PublicURL             string // the origin people and browsers reach the server by, when it is not Addr
	CDPListen             string // loopback host:port for CDP clients; port 0 takes a free one
	ProfileRoot           string // folder of the projects' profiles; empty: profiles in the data folder
	Chrome                string // path of the browser for managed sessions; empty: the first that is found
	NoSpareBrowsers       bool   // keep no managed browser ready for the next session
	RequireConfinement    bool   // refuse to start where the kernel cannot confine Chrome
	MaxSessions           int
	SessionsPerProject    int
	IdleTimeout           time.Duration
	ActionTimeout         time.Duration
	FrameFPS              int
	ScreenshotsPerSession int
	Retention             time.Duration
	TestOrigins           []string // exact loopback origins that managed browsers may reach, for tests
	Log                   string   // info or json
	Version               string
	Out                   io.Writer // the one line that says where the dashboard is
	Err                   io.Writer // the log
}

func (c Config) withDefaults() Config {
	c.Addr = cmp.Or(c.Addr, "127.0.0.1:7788")
	c.CDPListen = cmp.Or(c.CDPListen, "127.0.0.1:0")
	c.ProfileRoot = cmp.Or(c.ProfileRoot, filepath.Join(c.Data, "profiles"))
	c.FrameFPS = cmp.Or(c.FrameFPS, 4)
	c.Version = cmp.Or(c.Version, "dev")
	if c.Out == nil {
		c.Out = os.Stdout
	}
	if c.Err == nil {
		c.Err = os.Stderr
	}
	return c
}

// warm is how long a managed Chrome is kept without sessions, as chrome.Options has it.
func (c Config) warm() time.Duration {
	if c.NoSpareBrowsers {
		return -1
	}
	return 0
}

// check refuses what cannot be served safely, in words.
func (c Config) check() error {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fault.New(fault.BadRequest, "the address "+c.Addr+" is not host:port", "Use for example --addr 127.0.0.1:7788")
	}
	if err := c.checkLimits(); err != nil {
		return err
	}
	if err := c.checkCDPListen(); err != nil {
		return err
	}
	if c.Data == "" {
		return fault.New(fault.BadRequest, "no data folder is named", "Use --data DIR or set CHAPERONE_DATA.")
	}
	if isLoopback(host) {
		return c.checkPublicURL()
	}
	if len(c.TestOrigins) > 0 {
		return fault.New(fault.BadRequest, "--test-origin is for a server on a loopback address only", "Listen on 127.0.0.1, or leave it out.")
	}
	if c.PublicURL == "" {
		return fault.New(fault.BadRequest, "the address "+c.Addr+" is not a loopback address, and no public URL is set",
			"Set CHAPERONE_PUBLIC_URL to the https address that the proxy in front serves.")
	}
	return c.checkPublicURL()
}

// checkCDPListen refuses an address that other machines could reach: whoever is let in there is not asked for a token.
func (c Config) checkCDPListen() error {
	host, _, err := net.SplitHostPort(c.CDPListen)
	if err != nil {
		return fault.New(fault.BadRequest, "the address "+c.CDPListen+" is not host:port", "Use for example --cdp-listen 127.0.0.1:0")
	}
	if !isLoopback(host) {
		return fault.New(fault.BadRequest, "CDP clients are served at a loopback address only, which "+c.CDPListen+" is not",
			"Use --cdp-listen 127.0.0.1:0, and a tunnel such as ssh -L from other machines.")
	}
	return nil
}

// checkLimits refuses what would serve nobody; zero is the default.
func (c Config) checkLimits() error {
	for name, value := range map[string]int64{
		"max sessions": int64(c.MaxSessions), "sessions per project": int64(c.SessionsPerProject),
		"idle timeout": int64(c.IdleTimeout), "action timeout": int64(c.ActionTimeout), "frame fps": int64(c.FrameFPS),
		"screenshots per session": int64(c.ScreenshotsPerSession), "retention": int64(c.Retention),
	} {
		if value < 0 {
			return fault.New(fault.BadRequest, "the setting "+name+" is below zero", "Leave it out for the default, or give a number above zero.")
		}
	}
	for _, origin := range c.TestOrigins {
		if _, err := egress.CheckURL(origin, []string{origin}); err != nil {
			return fault.New(fault.BadRequest, "the test origin "+origin+" is not an exact http origin on loopback",
				"Use for example --test-origin http://127.0.0.1:8080")
		}
	}
	return nil
}

func (c Config) checkPublicURL() error {
	if c.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Scheme != "https" || u.Host == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.User != nil {
		return fault.New(fault.BadRequest, "the public URL is not an https origin", "Use for example https://chaperone.example.com")
	}
	return nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

func (c Config) logger() (*slog.Logger, error) {
	switch cmp.Or(c.Log, "info") {
	case "info":
		return slog.New(slog.NewTextHandler(c.Err, nil)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(c.Err, nil)), nil
	}
	return nil, fault.New(fault.BadRequest, "there is no log format "+c.Log, "Use --log info or --log json.")
}
