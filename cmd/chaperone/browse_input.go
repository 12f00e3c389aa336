package main

import (
	"github.com/spf13/cobra"

	"chaperone/server/browse"
)

// inputCommands are the actions that enter something.
func (b *browser) inputCommands() []*cobra.Command {
	return []*cobra.Command{
		b.command("fill REF TEXT", "Replace what a field holds", first(cobra.ExactArgs(2), aRef), func(args []string) browse.Action {
			return browse.Action{Action: "fill", Ref: args[0], Text: &args[1]}
		}),
		b.keyCommand("type TEXT", "Type where the keyboard is, or at the end of a field", func(text string) browse.Action {
			return browse.Action{Action: "type", Text: &text}
		}),
		b.keyCommand("press KEYS", "Press keys, such as Enter or Control+A, several separated by spaces", func(keys string) browse.Action {
			return browse.Action{Action: "press", Keys: keys}
		}),
		b.command("select REF VALUE...", "Choose options of a list, by value or label", first(cobra.MinimumNArgs(2), aRef), func(args []string) browse.Action {
			return browse.Action{Action: "select", Ref: args[0], Values: args[1:]}
		}),
		b.command("check REF", "Check a box, a radio or a switch", first(cobra.ExactArgs(1), aRef), at("check")),
		b.command("uncheck REF", "Uncheck a box or a switch", first(cobra.ExactArgs(1), aRef), at("uncheck")),
	}
}

// at is an action at an element.
func at(name string) func([]string) browse.Action {
	return func(args []string) browse.Action { return browse.Action{Action: name, Ref: args[0]} }
}

// keyCommand is an action of the keyboard, which may be given to an element first.
func (b *browser) keyCommand(use, short string, action func(string) browse.Action) *cobra.Command {
	ref := ""
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		if ref != "" && !isRef(ref) {
			return notRef(ref)
		}
		a := action(args[0])
		a.Ref = ref
		return b.act(cmd.Context(), a)
	}}
	cmd.Flags().StringVar(&ref, "ref", "", "give this element the keyboard first")
	return cmd
}
