package main

import (
	"regexp"
	"strconv"

	"github.com/spf13/cobra"

	"chaperone/server/browse"
)

// readingCommands are the actions that a read-only project permits.
func (b *browser) readingCommands() []*cobra.Command {
	return []*cobra.Command{
		b.command("open URL", "Open an address", cobra.ExactArgs(1), func(args []string) browse.Action {
			return browse.Action{Action: "open", URL: args[0]}
		}),
		b.snapshotCommand(),
		b.clickCommand(),
		b.scrollCommand(),
		b.textCommand(),
		b.command("back", "Go back in the tab's history", cobra.NoArgs, plain("back")),
		b.command("forward", "Go forward in the tab's history", cobra.NoArgs, plain("forward")),
		b.waitCommand(),
		b.screenshotCommand(),
		b.command("tabs", "List the session's tabs", cobra.NoArgs, plain("tabs")),
		b.command("select-tab TAB", "Choose the tab that actions run in", cobra.ExactArgs(1), func(args []string) browse.Action {
			return browse.Action{Action: "select_tab", Tab: args[0]}
		}),
		b.command("status", "Say how the browser is reached and confined", cobra.NoArgs, plain("status")),
		{Use: "close", Short: "End the session", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
			return b.close(cmd.Context())
		}},
	}
}

// writingCommands are the actions that an interactive project permits besides.
func (b *browser) writingCommands() []*cobra.Command {
	return append(b.inputCommands(), b.pointerCommands()...)
}

// first is the first complaint of several checks; a wrong word is a usage error of its own.
func first(checks ...cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for _, check := range checks {
			if err := check(cmd, args); err != nil {
				return err
			}
		}
		return nil
	}
}

// aRef checks that the first argument, where there is one, is a ref.
func aRef(_ *cobra.Command, args []string) error {
	if len(args) > 0 && !isRef(args[0]) {
		return notRef(args[0])
	}
	return nil
}

func isRef(text string) bool { return regexp.MustCompile(`^e[1-9][0-9]{0,8}$`).MatchString(text) }

func notRef(text string) error {
	return usagef("%q is not a ref: one looks like e12 and comes from chaperone browse snapshot", text)
}

func isOne(facts ...bool) bool {
	n := 0
	for _, fact := range facts {
		if fact {
			n++
		}
	}
	return n == 1
}

func plain(name string) func([]string) browse.Action {
	return func([]string) browse.Action { return browse.Action{Action: name} }
}

// command is an action whose arguments are all there is to it.
func (b *browser) command(use, short string, args cobra.PositionalArgs, action func([]string) browse.Action) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		return b.act(cmd.Context(), action(args))
	}}
}

// given is a text that was given; nil for none.
func given(text *string) *string {
	if *text == "" {
		return nil
	}
	return text
}

func (b *browser) snapshotCommand() *cobra.Command {
	action, text := browse.Action{Action: "snapshot"}, ""
	cmd := &cobra.Command{Use: "snapshot", Short: "Show the page as lines with refs", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if action.Scope != "" && !isRef(action.Scope) {
			return notRef(action.Scope)
		}
		action.Text = given(&text)
		return b.act(cmd.Context(), action)
	}}
	cmd.Flags().BoolVar(&action.Full, "full", false, "all text, not only what can be operated")
	cmd.Flags().StringVar(&action.Scope, "scope", "", "only beneath this ref")
	cmd.Flags().StringVar(&action.Role, "role", "", "look for elements of this role, such as button")
	cmd.Flags().StringVar(&action.Name, "name", "", "look for elements whose name contains this")
	cmd.Flags().StringVar(&text, "text", "", "look for where this text stands, or for what stands near to it")
	cmd.Flags().StringVar(&action.Cursor, "cursor", "", "go on where an earlier one was cut")
	return cmd
}

func (b *browser) textCommand() *cobra.Command {
	action := browse.Action{Action: "get_text"}
	cmd := &cobra.Command{Use: "text [REF]", Aliases: []string{"get_text", "get-text"}, Short: "Read the page's text, or an element's", Args: first(cobra.MaximumNArgs(1), aRef), RunE: func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			action.Ref = args[0]
		}
		return b.act(cmd.Context(), action)
	}}
	cmd.Flags().StringVar(&action.Cursor, "cursor", "", "go on where an earlier one was cut")
	return cmd
}

func (b *browser) scrollCommand() *cobra.Command {
	return &cobra.Command{Use: "scroll up|down|top|bottom|REF [PX]", Short: "Scroll the page or to an element", Args: cobra.RangeArgs(1, 2), RunE: func(cmd *cobra.Command, args []string) error {
		action := browse.Action{Action: "scroll"}
		switch args[0] {
		case "up", "down", "top", "bottom":
			action.Direction = args[0]
		default:
			if !isRef(args[0]) {
				return usagef("%q is neither up, down, top, bottom nor a ref such as e12", args[0])
			}
			action.Ref = args[0]
		}
		if len(args) == 2 {
			pixels, err := strconv.Atoi(args[1])
			if err != nil || pixels <= 0 {
				return usagef("%q is not a number of pixels", args[1])
			}
			action.Amount = pixels
		}
		return b.act(cmd.Context(), action)
	}}
}

func (b *browser) waitCommand() *cobra.Command {
	action, text := browse.Action{Action: "wait"}, ""
	cmd := &cobra.Command{
		Use: "wait MS | --text T | --url GLOB | --idle", Short: "Wait for a time, a text, an address or a quiet page",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				ms, err := strconv.Atoi(args[0])
				if err != nil || ms <= 0 {
					return usagef("%q is not a number of milliseconds", args[0])
				}
				action.MS = ms
			}
			action.Text = given(&text)
			if !isOne(action.MS > 0, text != "", action.URLGlob != "", action.Idle) {
				return usagef("say one thing to wait for: a number of milliseconds, --text, --url or --idle")
			}
			return b.act(cmd.Context(), action)
		},
	}
	cmd.Flags().StringVar(&text, "text", "", "until the page shows this")
	cmd.Flags().StringVar(&action.URLGlob, "url", "", "until the address fits, such as https://example.com/*")
	cmd.Flags().BoolVar(&action.Idle, "idle", false, "until the page is quiet")
	return cmd
}

func (b *browser) screenshotCommand() *cobra.Command {
	action := browse.Action{Action: "screenshot"}
	cmd := &cobra.Command{Use: "screenshot [FILE]", Short: "Take a picture, kept by the server and written to FILE", Args: cobra.MaximumNArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		file := ""
		if len(args) > 0 {
			file = args[0]
		}
		return b.picture(cmd.Context(), action, file)
	}}
	cmd.Flags().BoolVar(&action.Full, "full", false, "the whole page, not only what is in view")
	return cmd
}
