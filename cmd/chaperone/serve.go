package main

import (
	"time"

	"github.com/spf13/cobra"

	"chaperone/server"
)

func (a *app) serveCommand() *cobra.Command {
	c := server.Config{Version: version, Out: a.out, Err: a.err}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the server in the foreground",
		Long: "Run the server until it is interrupted. Once it is ready it prints one line: the dashboard's address with a code that logs\n" +
			"you in once. Settings come from flags, else from the environment, else they have the defaults shown.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Data = a.data
			if err := checkAddress("addr", c.Addr); err != nil {
				return err
			}
			if err := checkAddress("cdp-listen", c.CDPListen); err != nil {
				return err
			}
			for flag, address := range map[string]string{"addr": c.Addr, "cdp-listen": c.CDPListen} {
				if err := tryAddress(cmd.Context(), flag, address); err != nil {
					return err
				}
			}
			return untaken(server.Run(cmd.Context(), c), "addr", c.Addr)
		},
	}
	f := cmd.Flags()
	setting(f, "addr", "CHAPERONE_ADDR").StringVar(&c.Addr, "127.0.0.1:7788", "listen on this host:port; port 0 takes a free one")
	setting(f, "public-url", "CHAPERONE_PUBLIC_URL").StringVar(&c.PublicURL, "", "the https origin that a proxy in front serves")
	setting(f, "cdp-listen", "CHAPERONE_CDP_LISTEN").StringVar(&c.CDPListen, "127.0.0.1:0", "serve CDP clients on this loopback host:port; port 0 takes a free one")
	setting(f, "chrome", "CHAPERONE_CHROME").StringVar(&c.Chrome, "", "path of the browser for managed sessions")
	setting(f, "no-spare-browsers", "CHAPERONE_NO_SPARE_BROWSERS").BoolVar(&c.NoSpareBrowsers, "keep no managed browser ready for the next session: it opens later, and up to 200 MB less are in use")
	setting(f, "profile-root", "CHAPERONE_PROFILE_ROOT").StringVar(&c.ProfileRoot, "", "keep the projects' profiles in this folder; default: profiles in the data folder")
	setting(f, "require-confinement", "CHAPERONE_REQUIRE_CONFINEMENT").BoolVar(&c.RequireConfinement, "refuse to start where the kernel cannot confine Chrome")
	setting(f, "max-sessions", "CHAPERONE_MAX_SESSIONS").IntVar(&c.MaxSessions, 4, "sessions at once")
	setting(f, "sessions-per-project", "CHAPERONE_SESSIONS_PER_PROJECT").IntVar(&c.SessionsPerProject, 2, "sessions at once in one project")
	setting(f, "idle-timeout", "CHAPERONE_IDLE_TIMEOUT").SpanVar(&c.IdleTimeout, 5*time.Minute, "end a session after so long without an action")
	setting(f, "action-timeout", "CHAPERONE_ACTION_TIMEOUT").SpanVar(&c.ActionTimeout, 30*time.Second, "give up an action after so long")
	setting(f, "frame-fps", "CHAPERONE_FRAME_FPS").IntVar(&c.FrameFPS, 4, "live pictures a second")
	setting(f, "screenshots-per-session", "CHAPERONE_SCREENSHOTS_PER_SESSION").IntVar(&c.ScreenshotsPerSession, 50, "screenshots kept of one session")
	setting(f, "retention", "CHAPERONE_RETENTION").SpanVar(&c.Retention, 30*24*time.Hour, "how long screenshots are kept")
	setting(f, "log", "CHAPERONE_LOG").StringVar(&c.Log, "info", "the log's format: info or json")
	f.StringArrayVar(&c.TestOrigins, "test-origin", nil, "for tests alone: let managed browsers reach this exact http://127.0.0.1:PORT (repeatable)")
	return cmd
}
