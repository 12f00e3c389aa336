package program

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
)

// Closed shadow trees: a page's script cannot look into one, nor can the page script, but the browser hands its root
// out. The page script says with an answer that it has met elements that may have one; only then is the browser asked,
// once for each element, and the function runs again.

const (
	functionHosts = "@hosts" // the elements themselves, as a list
	functionAdopt = "@adopt" // takes one root

	// maxDepths bounds how deep closed trees that are looked into stand in each other.
	maxDepths = 4
	// maxHosts bounds how many elements are asked about at once, maxBatches how often in one look.
	maxHosts   = 64
	maxBatches = 8
)

// answer is what the page script said.
type answer struct {
	value json.RawMessage
	hosts bool // there may be closed shadow trees that it has not been handed
}

// open runs a function that only reads until all closed trees that it comes by are open to it.
func (e *Executor) open(ctx context.Context, w *world, name string, argument map[string]any) (json.RawMessage, error) {
	said, err := e.converse(ctx, w, name, argument)
	for range maxDepths {
		if err != nil || !said.hosts || !e.options.Table.CanRetry(name) || e.adoptRoots(ctx, w) == 0 {
			break
		}
		said, err = e.converse(ctx, w, name, argument)
	}
	return said.value, err
}

// adoptRoots hands the page script the closed roots of the elements that it suspects, and answers how many. What
// fails is left closed.
func (e *Executor) adoptRoots(ctx context.Context, w *world) int {
	adopted := 0
	for range maxBatches {
		hosts := e.suspects(ctx, w)
		for _, root := range e.closedRoots(ctx, w, hosts) {
			if root != "" && e.adopt(ctx, w, root) {
				adopted++
			}
		}
		if len(hosts) < maxHosts {
			break
		}
	}
	return adopted
}

func (e *Executor) adopt(ctx context.Context, w *world, root string) bool {
	_, err := e.invoke(ctx, w, functionAdopt, map[string]any{"objectId": root})
	return err == nil
}

// suspects are handles of the elements that may have a closed root.
func (e *Executor) suspects(ctx context.Context, w *world) []string {
	var list evaluated
	err := e.ask(ctx, w.child, "Runtime.callFunctionOn", map[string]any{
		"objectId": w.handle, "functionDeclaration": callHandle, "arguments": []any{map[string]any{"value": functionHosts}},
	}, &list)
	if err != nil || list.Result.ObjectID == "" {
		return nil
	}
	var members struct {
		Result []struct {
			Name  string       `json:"name"`
			Value remoteObject `json:"value"`
		} `json:"result"`
	}
	if err := e.ask(ctx, w.child, "Runtime.getProperties", map[string]any{"objectId": list.Result.ObjectID, "ownProperties": true}, &members); err != nil {
		return nil
	}
	var handles []string
	for _, member := range members.Result {
		if _, err := strconv.Atoi(member.Name); err == nil && len(handles) < maxHosts {
			handles = append(handles, member.Value.ObjectID)
		}
	}
	return handles
}

// closedRoots asks side by side; empty is an element without a closed root.
func (e *Executor) closedRoots(ctx context.Context, w *world, hosts []string) []string {
	roots := make([]string, len(hosts))
	var asking sync.WaitGroup
	for i, host := range hosts {
		asking.Go(func() { roots[i] = e.closedRoot(ctx, w, host) })
	}
	asking.Wait()
	return roots
}

func (e *Executor) closedRoot(ctx context.Context, w *world, host string) string {
	var described struct {
		Node struct {
			ShadowRoots []struct {
				BackendNodeID  int    `json:"backendNodeId"`
				ShadowRootType string `json:"shadowRootType"`
			} `json:"shadowRoots"`
		} `json:"node"`
	}
	if err := e.ask(ctx, w.child, "DOM.describeNode", map[string]any{"objectId": host}, &described); err != nil {
		return ""
	}
	for _, root := range described.Node.ShadowRoots {
		if root.ShadowRootType != "closed" {
			continue
		}
		var resolved struct {
			Object remoteObject `json:"object"`
		}
		params := map[string]any{"backendNodeId": root.BackendNodeID, "executionContextId": w.context}
		if err := e.ask(ctx, w.child, "DOM.resolveNode", params, &resolved); err == nil {
			return resolved.Object.ObjectID
		}
	}
	return ""
}
