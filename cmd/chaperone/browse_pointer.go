package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// pointerCommands are the actions with the pointer, on tabs, dialogs and files that an interactive project permits.
func (b *browser) pointerCommands() []*cobra.Command {
	return []*cobra.Command{
		b.command("hover REF", "Move the pointer over an element", first(cobra.ExactArgs(1), aRef), func(args []string) browse.Action {
			return browse.Action{Action: "hover", Ref: args[0]}
		}),
		b.dragCommand(),
		b.dialogCommand(),
		b.command("new-tab [URL]", "Open another tab and select it", cobra.MaximumNArgs(1), func(args []string) browse.Action {
			return browse.Action{Action: "new_tab", URL: optional(args)}
		}),
		b.command("close-tab [TAB]", "Close a tab that the session opened", cobra.MaximumNArgs(1), func(args []string) browse.Action {
			return browse.Action{Action: "close_tab", Tab: optional(args)}
		}),
		b.evalCommand(),
		b.uploadCommand(),
		b.downloadCommand(),
	}
}

func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (b *browser) clickCommand() *cobra.Command {
	action := browse.Action{Action: "click"}
	double := false
	cmd := &cobra.Command{Use: "click REF", Short: "Click an element", Args: first(cobra.ExactArgs(1), aRef), RunE: func(cmd *cobra.Command, args []string) error {
		action.Ref = args[0]
		if double {
			action.Count = 2
		}
		return b.act(cmd.Context(), action)
	}}
	cmd.Flags().Var(choose(&action.Button, "left", "right"), "button", "which mouse button; right needs an interactive project")
	cmd.Flags().BoolVar(&double, "double", false, "click twice; needs an interactive project")
	return cmd
}

func (b *browser) dragCommand() *cobra.Command {
	action := browse.Action{Action: "drag"}
	cmd := &cobra.Command{Use: "drag REF REF", Short: "Drag an element onto another", Args: first(cobra.ExactArgs(2), aRef), RunE: func(cmd *cobra.Command, args []string) error {
		if !isRef(args[1]) {
			return notRef(args[1])
		}
		action.Ref, action.To = args[0], args[1]
		return b.act(cmd.Context(), action)
	}}
	cmd.Flags().Var(choose(&action.At, "center", "top", "bottom", "left", "right"), "at", "where on the other element")
	return cmd
}

func (b *browser) dialogCommand() *cobra.Command {
	return &cobra.Command{Use: "dialog accept|dismiss [TEXT]", Short: "Answer the dialog that is open", Args: cobra.RangeArgs(1, 2), RunE: func(cmd *cobra.Command, args []string) error {
		if args[0] != "accept" && args[0] != "dismiss" {
			return usagef("%q is neither accept nor dismiss", args[0])
		}
		accept := args[0] == "accept"
		action := browse.Action{Action: "dialog", Accept: &accept}
		if len(args) > 1 {
			action.Text = &args[1]
		}
		return b.act(cmd.Context(), action)
	}}
}

func (b *browser) evalCommand() *cobra.Command {
	action := browse.Action{Action: "eval"}
	cmd := &cobra.Command{Use: "eval JS", Short: "Run script in the page and show what it comes to", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if action.Ref != "" && !isRef(action.Ref) {
			return notRef(action.Ref)
		}
		action.JS = args[0]
		return b.act(cmd.Context(), action)
	}}
	cmd.Flags().StringVar(&action.Ref, "in", "", "in the frame that this ref stands in")
	return cmd
}

func (b *browser) uploadCommand() *cobra.Command {
	return &cobra.Command{Use: "upload REF FILE...", Short: "Give files to a file field", Args: first(cobra.MinimumNArgs(2), aRef), RunE: func(cmd *cobra.Command, args []string) error {
		action := browse.Action{Action: "upload", Ref: args[0]}
		for _, name := range args[1:] {
			f, err := readFile(name)
			if err != nil {
				return err
			}
			action.Files = append(action.Files, f)
		}
		return b.act(cmd.Context(), action)
	}}
}

// mostUpload bounds what is read of a file: the server takes no more for all files together.
const mostUpload = 10 << 20

func readFile(name string) (browse.File, error) {
	in, err := os.Open(name) //nolint:gosec // the person named it
	if err != nil {
		return browse.File{}, fmt.Errorf("the file cannot be read: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(in, mostUpload+1))
	if err := errors.Join(err, in.Close()); err != nil {
		return browse.File{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > mostUpload {
		return browse.File{}, fault.New(fault.TooLarge, name+" is larger than 10 MiB", "Give a smaller file.")
	}
	kind, _, err := mime.ParseMediaType(mime.TypeByExtension(filepath.Ext(name)))
	if err != nil {
		kind = ""
	}
	return browse.File{Name: filepath.Base(name), MIME: kind, Data: data}, nil
}

func (b *browser) downloadCommand() *cobra.Command {
	return &cobra.Command{Use: "download REF [FILE]", Short: "Click what downloads, and keep the file", Args: first(cobra.RangeArgs(1, 2), aRef), RunE: func(cmd *cobra.Command, args []string) error {
		return b.download(cmd.Context(), browse.Action{Action: "download", Ref: args[0]}, optional(args[1:]))
	}}
}

// download has the server fetch a file, and keeps it.
func (b *browser) download(ctx context.Context, action browse.Action, file string) error {
	return b.keep(ctx, action, kept{what: "file", name: "FILE", file: file, find: func(raw []byte) (string, func(), error) {
		var result browse.Result
		if err := json.Unmarshal(raw, &result); err != nil || result.Download == nil {
			return "", nil, fault.New(fault.Internal, "the answer holds no download", "")
		}
		fetched := *result.Download
		return fetched.Artifact, func() { b.app.note("wrote %s: %d bytes", file, fetched.Bytes) }, nil
	}})
}
