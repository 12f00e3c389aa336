package mcp

import (
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

// answer is a result as a model reads it, and its picture.
func answer(r browse.Result) *sdk.CallToolResult {
	content := []sdk.Content{&sdk.TextContent{Text: browse.Readable(r)}}
	if len(r.Picture) > 0 {
		content = append(content, &sdk.ImageContent{Data: r.Picture, MIMEType: "image/png"})
	}
	return &sdk.CallToolResult{Content: content}
}

// failure is a fault as a model reads it.
func failure(f *fault.Fault) *sdk.CallToolResult {
	text := fmt.Sprintf("%s: %s", f.Code, f.Message)
	if f.Hint != "" {
		text += " (" + f.Hint + ")"
	}
	if f.Detail != "" {
		text += "\n\n" + browse.Bounded(f.Detail)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}
