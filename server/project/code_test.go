package project_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"chaperone/server/fault"
	"chaperone/server/project"
)

func goodCode() project.Code {
	return project.Code{
		Server: here, Token: strings.Repeat("A", 43), Project: "p_01KB9ZZZZZZZZZZZZZZZZZZZZZ", Name: "mine",
	}
}

func packed(json string) string {
	return "chaperone1." + base64.RawURLEncoding.EncodeToString([]byte(json))
}

func TestACodeReadsAsItWasWritten(t *testing.T) {
	for name, server := range map[string]string{
		"this machine": here, "a name of this machine": "http://localhost:1", "another machine": "https://chaperone.example",
		"IPv6": "http://[::1]:7788", "a port": "https://chaperone.example:8443",
	} {
		code := goodCode()
		code.Server = server
		for _, text := range []string{code.String(), " " + code.String() + "\n"} {
			if got, err := project.ParseCode(text); err != nil || got != code {
				t.Errorf("%s reads as %+v, %v", name, got, err)
			}
		}
	}
}

func TestADamagedCodeIsRefused(t *testing.T) {
	good := goodCode().String()
	alter := func(change func(*project.Code)) string {
		code := goodCode()
		change(&code)
		return code.String()
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"another version":       strings.Replace(good, "chaperone1.", "chaperone2.", 1),
		"no prefix":             strings.TrimPrefix(good, "chaperone1."),
		"padding":               good + "=",
		"two lines":             good[:40] + "\n" + good[40:],
		"a space inside":        good[:40] + " " + good[40:],
		"a code cut short":      good[:len(good)-4],
		"another alphabet":      "chaperone1.+/+/",
		"no JSON":               packed("hello"),
		"a list":                packed("[]"),
		"a fifth field":         packed(`{"server":"` + here + `","token":"","project":"","name":"","admin":true}`),
		"something after":       packed(`{}{}`),
		"a number as token":     packed(`{"token":1}`),
		"an empty object":       packed(`{}`),
		"plain http elsewhere":  alter(func(c *project.Code) { c.Server = "http://chaperone.example" }),
		"a script as server":    alter(func(c *project.Code) { c.Server = "javascript:alert(1)" }),
		"a server with a path":  alter(func(c *project.Code) { c.Server = here + "/x" }),
		"a server with a slash": alter(func(c *project.Code) { c.Server = here + "/" }),
		"a server with a user":  alter(func(c *project.Code) { c.Server = "http://me@127.0.0.1" }),
		"a server in disguise":  alter(func(c *project.Code) { c.Server = "http://127.0.0.1.evil.test" }),
		"a short token":         alter(func(c *project.Code) { c.Token = c.Token[:42] }),
		"bits left over in it":  alter(func(c *project.Code) { c.Token = c.Token[:42] + "B" }),
		"a long token":          alter(func(c *project.Code) { c.Token += "A" }),
		"a project that is none": alter(func(c *project.Code) {
			c.Project = "default"
		}),
		"a name that turns round": alter(func(c *project.Code) { c.Name = "a\u202eb" }),
		"far too much":            alter(func(c *project.Code) { c.Name = strings.Repeat("a", 5000) }),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := project.ParseCode(text); !fault.Is(err, fault.BadRequest) {
				t.Errorf("%q reads as %+v, %v", text, got, err)
			}
		})
	}
}

func FuzzParseCode(f *testing.F) {
	f.Add(goodCode().String())
	f.Add(goodCode().String()[:50])
	f.Add(packed(`{"server":"https://a","token":"` + strings.Repeat("A", 43) + `","project":"p_01KB9ZZZZZZZZZZZZZZZZZZZZZ","name":"a"}`))
	f.Add("chaperone1.")
	f.Fuzz(func(t *testing.T, text string) {
		code, err := project.ParseCode(text)
		if err != nil {
			if !fault.Is(err, fault.BadRequest) {
				t.Errorf("the error is %v", err)
			}
			return
		}
		if again, err := project.ParseCode(code.String()); err != nil || again != code {
			t.Errorf("%+v reads back as %+v, %v", code, again, err)
		}
	})
}
