package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"chaperone/server/fault"
)

// The parts of OpenAPI 3.1 that the description uses.
type openAPI struct {
	OpenAPI    string                          `json:"openapi"`
	Info       map[string]string               `json:"info"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components map[string]any                  `json:"components"`
}

type operation struct {
	Summary     string                  `json:"summary"`
	Security    []map[string][]string   `json:"security"`
	Parameters  []parameter             `json:"parameters,omitempty"`
	RequestBody *content                `json:"requestBody,omitempty"`
	Responses   map[string]contentOrRef `json:"responses"`
}

type parameter struct {
	Name     string            `json:"name"`
	In       string            `json:"in"`
	Required bool              `json:"required"`
	Schema   map[string]string `json:"schema"`
}

type content struct {
	Required bool            `json:"required"`
	Content  map[string]body `json:"content"`
}

type contentOrRef struct {
	Ref         string          `json:"$ref,omitempty"`
	Description string          `json:"description,omitempty"`
	Content     map[string]body `json:"content,omitempty"`
}

type body struct {
	Schema any `json:"schema"`
}

// describe writes the description of the table, so that it cannot say other than what is served.
func describe(routes []route, version string) ([]byte, error) {
	failure, err := schemaOf(refusal{})
	if err != nil {
		return nil, err
	}
	document := openAPI{
		OpenAPI: "3.1.0",
		Info:    map[string]string{"title": "Chaperone", "version": version, "summary": "A browser for agents, under supervision."},
		Paths:   map[string]map[string]operation{},
		Components: map[string]any{
			"securitySchemes": map[string]any{"bearer": map[string]string{"type": "http", "scheme": "bearer"}},
			"responses":       map[string]any{"refusal": contentOrRef{Description: "What happened and what to do next.", Content: jsonBody(failure)}},
		},
	}
	for _, rt := range routes {
		if err := document.add(rt); err != nil {
			return nil, fmt.Errorf("describe %s %s: %w", rt.method, rt.path, err)
		}
	}
	return json.Marshal(document)
}

func (d *openAPI) add(rt route) error {
	op := operation{Summary: rt.does, Security: []map[string][]string{}, Parameters: parameters(rt)}
	if !rt.open {
		op.Security = append(op.Security, map[string][]string{"bearer": {}})
	}
	if rt.takes != nil {
		schema, err := schemaOf(rt.takes)
		if err != nil {
			return err
		}
		op.RequestBody = &content{Required: true, Content: jsonBody(schema)}
	}
	responses, err := answers(rt)
	if err != nil {
		return err
	}
	op.Responses = responses
	address := templated(rt.path)
	if d.Paths[address] == nil {
		d.Paths[address] = map[string]operation{}
	}
	d.Paths[address][strings.ToLower(rt.method)] = op
	return nil
}

func answers(rt route) (map[string]contentOrRef, error) {
	responses := map[string]contentOrRef{"default": {Ref: "#/components/responses/refusal"}}
	switch {
	case rt.media != "":
		responses["200"] = contentOrRef{Description: rt.does, Content: map[string]body{rt.media: {Schema: map[string]string{"type": "string"}}}}
	case rt.gives == nil:
		responses["204"] = contentOrRef{Description: "Done."}
	default:
		schema, err := schemaOf(rt.gives)
		if err != nil {
			return nil, err
		}
		responses["2XX"] = contentOrRef{Description: rt.does, Content: jsonBody(schema)}
	}
	return responses, nil
}

func parameters(rt route) []parameter {
	var list []parameter
	text := map[string]string{"type": "string"}
	for part := range strings.SplitSeq(rt.path, "/") {
		if name, ok := strings.CutPrefix(part, ":"); ok {
			list = append(list, parameter{Name: name, In: "path", Required: true, Schema: text})
		}
	}
	for _, name := range rt.query {
		list = append(list, parameter{Name: name, In: "query", Schema: text})
	}
	return list
}

func jsonBody(schema any) map[string]body {
	return map[string]body{"application/json": {Schema: schema}}
}

// schemaOf describes a Go value as encoding/json writes it.
func schemaOf(value any) (*jsonschema.Schema, error) {
	return jsonschema.ForType(reflect.TypeOf(value), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[fault.Fault]():     {Type: "object", Properties: map[string]*jsonschema.Schema{"code": {Type: "string"}, "message": {Type: "string"}, "hint": {Type: "string"}}, Required: []string{"code", "message"}},
		reflect.TypeFor[json.RawMessage](): {},
	}})
}

// templated writes gin's :name as OpenAPI's {name}.
func templated(path string) string {
	return regexp.MustCompile(`:([a-z]+)`).ReplaceAllString(path, "{$1}")
}

func (s *site) describe(*call) (any, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = w.Write(s.description) // the reader may have left
	}), nil
}
