package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// chromeTarget is the oldest Chrome the bundles are written for.
const chromeTarget = "120"

// module is the build of an entry point that the browser loads as a module.
func module(entry string) api.BuildOptions {
	return api.BuildOptions{EntryPoints: []string{entry}, Format: api.FormatESModule}
}

// script is the build of an entry point that stands alone and leaves no name behind.
func script(entry string) api.BuildOptions {
	return api.BuildOptions{EntryPoints: []string{entry}, Format: api.FormatIIFE}
}

// compile bundles options' one entry point into files called name.js and, where it imports style sheets, name.css.
func compile(root, name string, options api.BuildOptions) (Files, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find source tree: %w", err)
	}
	options.AbsWorkingDir = absolute
	options.Outdir = absolute
	options.EntryNames = name
	options.Bundle = true
	options.Charset = api.CharsetUTF8
	options.Engines = []api.Engine{{Name: api.EngineChrome, Version: chromeTarget}}
	options.JSX = api.JSXAutomatic
	options.JSXImportSource = "preact"
	options.LegalComments = api.LegalCommentsNone
	options.MinifySyntax = true
	options.MinifyWhitespace = true
	options.TsconfigRaw = `{"compilerOptions":{"verbatimModuleSyntax":true}}`
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("bundle %s: %w", name, messages(result.Errors))
	}
	files := Files{}
	for _, file := range result.OutputFiles {
		files[filepath.Base(file.Path)] = file.Contents
	}
	return files, nil
}

func messages(all []api.Message) error {
	lines := make([]error, 0, len(all))
	for _, text := range api.FormatMessages(all, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
		lines = append(lines, errors.New(strings.TrimSpace(text)))
	}
	return errors.Join(lines...)
}
