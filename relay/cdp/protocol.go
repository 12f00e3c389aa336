package cdp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The shape of Chrome's own /json/protocol.
type (
	protocol struct {
		Version protocolVersion  `json:"version"`
		Domains []protocolDomain `json:"domains"`
	}
	protocolVersion struct {
		Major string `json:"major"`
		Minor string `json:"minor"`
	}
	protocolDomain struct {
		Domain   string            `json:"domain"`
		Commands []protocolCommand `json:"commands"`
		Events   []protocolEvent   `json:"events,omitempty"`
	}
	protocolCommand struct {
		Name        string              `json:"name"`
		Description string              `json:"description,omitempty"`
		Parameters  []protocolParameter `json:"parameters,omitempty"`
	}
	protocolParameter struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Enum     []any  `json:"enum,omitempty"`
		Optional bool   `json:"optional"`
	}
	protocolEvent struct {
		Name string `json:"name"`
	}
)

// Protocol describes, in the shape of Chrome's /json/protocol, the methods and parameters that raw clients may use at the
// highest level and the events they are told: every parameter as if it could be left out, which Chrome decides.
func (t *Table) Protocol() []byte {
	domains := map[string]*protocolDomain{}
	domain := func(name string) *protocolDomain {
		if domains[name] == nil {
			domains[name] = &protocolDomain{Domain: name, Commands: []protocolCommand{}}
		}
		return domains[name]
	}
	for _, method := range slices.Sorted(maps.Keys(t.raw)) {
		name, command, _ := strings.Cut(method, ".")
		domain(name).Commands = append(domain(name).Commands, describe(command, t.raw[method]))
	}
	for _, event := range slices.Sorted(maps.Keys(t.told)) {
		name, event, _ := strings.Cut(event, ".")
		domain(name).Events = append(domain(name).Events, protocolEvent{Name: event})
	}
	described := protocol{Version: protocolVersion{Major: "1", Minor: "3"}}
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		described.Domains = append(described.Domains, *domains[name])
	}
	encoded, err := json.Marshal(described)
	if err != nil {
		return []byte(`{}`) // never: it holds what was read from JSON
	}
	return encoded
}

// describe is one method by all its rules; of two that name a parameter, the one for the higher level counts.
func describe(command string, rules []rule) protocolCommand {
	described := protocolCommand{Name: command}
	parameters := map[string]protocolParameter{}
	for _, rule := range rules {
		if rule.Why != "" {
			described.Description = rule.Why
		}
		for name, kind := range rule.Params {
			parameters[name] = protocolParameter{Name: name, Type: kind.protocolType(), Enum: kind.enum(), Optional: true}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		described.Parameters = append(described.Parameters, parameters[name])
	}
	return described
}

func (k kind) protocolType() string {
	switch k.name {
	case "":
		return typeOf(k.values[0])
	case kindItems:
		return kindArray
	case kindPageURL, kindForeign:
		return kindString
	case kindLocated, kindDropped:
		return kindNumber
	case kindHeaders, kindDrag:
		return kindObject
	default:
		return k.name
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case string:
		return kindString
	case bool:
		return kindBoolean
	default:
		return kindInteger
	}
}

func (k kind) enum() []any {
	if k.name == kindItems {
		return nil
	}
	return k.values
}
