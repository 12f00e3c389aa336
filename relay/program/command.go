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
	if method == methodNavigate {
		return e.navigate(ctx, params)
	}
	reply, err := e.target.Call(ctx, "", method, params)
	var refused *CallError
	switch {
	case errors.As(err, &refused) && refused.Code == invalidParams:
		return nil, fault(codeBadRequest, refused.Message)
	case err != nil:
		return nil, err
	case len(reply) == 0:
		return nothing(), nil
	default:
		return reply, nil
	}
}
