package program

import (
	"context"
	"encoding/json"
	"errors"
)

// invalidParams is JSON-RPC's code for parameters that the browser cannot read.
const invalidParams = -32602

// command sends a call step's command to the page. Its reply is the step's result.
func (e *Executor) command(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if params == nil {
		params = json.RawMessage(`{}`)
	}
	reply, err := e.target.Call(ctx, "", method, params)
	var refused *CallError
	switch {
	case errors.As(err, &refused) && method == methodNavigate:
		return nil, fault(codeNavigationFailed, refused.Message)
	case errors.As(err, &refused) && refused.Code == invalidParams:
		return nil, fault(codeBadRequest, refused.Message)
	case err != nil:
		return nil, err
	case method == methodNavigate:
		return reply, e.navigating(reply)
	case len(reply) == 0:
		return nothing(), nil
	default:
		return reply, nil
	}
}

// navigating reads Page.navigate's reply, which comes once it is clear which document will follow.
func (e *Executor) navigating(reply json.RawMessage) error {
	var navigate struct {
		LoaderID   string `json:"loaderId"`
		ErrorText  string `json:"errorText"`
		IsDownload bool   `json:"isDownload"`
	}
	if err := json.Unmarshal(reply, &navigate); err != nil {
		return fault(codeInternal, "Page.navigate was answered in another shape than expected")
	}
	switch {
	case navigate.IsDownload:
		return fault(codeNavigationFailed, navigate.ErrorText+": the address is a download, the page stays")
	case navigate.ErrorText == "net::ERR_ABORTED":
		return fault(codeNavigationFailed, navigate.ErrorText+": the answer is a download or holds no document, or another navigation came between")
	case navigate.ErrorText != "":
		return fault(codeNavigationFailed, navigate.ErrorText)
	case navigate.LoaderID != "":
		e.view.update(func() { e.view.nav.start(navigate.LoaderID) })
	}
	return nil
}
