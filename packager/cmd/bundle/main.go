// Command bundle fills the packager's dist folder from the TypeScript sources.
package main

import (
	"flag"
	"fmt"
	"os"

	"chaperone/packager/bundle"
)

func main() {
	root := flag.String("root", ".", "the source tree")
	out := flag.String("out", "packager/dist", "the folder to fill")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	files, err := bundle.Build(root)
	if err != nil {
		return err
	}
	return files.Write(out)
}
