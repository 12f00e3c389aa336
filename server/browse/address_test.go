package browse_test

import (
	"net/url"
	"strings"
	"testing"

	"chaperone/server/browse"
	"chaperone/server/fault"
)

func TestCheckURL(t *testing.T) {
	cases := map[string]struct{ raw, want string }{
		"a plain address":               {"https://example.com/a?b=c#d", "https://example.com/a?b=c#d"},
		"a blank page":                  {"about:blank", "about:blank"},
		"a blank page in large letters": {"About:Blank", "about:blank"},
		"a port":                        {"http://example.com:8080/", "http://example.com:8080/"},
		"an upper case host":            {"https://EXAMPLE.com/", "https://example.com/"},
		"an international host":         {"https://bücher.example/", "https://xn--bcher-kva.example/"},
		"IPv4":                          {"http://192.0.2.1/", "http://192.0.2.1/"},
		"IPv4 in octal":                 {"http://0177.0.0.1/", "http://127.0.0.1/"},
		"IPv4 in hexadecimal":           {"http://0x7f.1/", "http://127.0.0.1/"},
		"IPv4 as one number":            {"http://2130706433/", "http://127.0.0.1/"},
		"IPv4 with a full stop behind":  {"http://127.0.0.1./", "http://127.0.0.1/"},
		"IPv6":                          {"http://[::1]:81/", "http://[::1]:81/"},
		"a number too large":            {"http://4294967296/", ""},
		"five numbers":                  {"http://1.2.3.4.5/", ""},
		"no number at the end":          {"http://1.2.3.09/", ""},
		"a script":                      {"javascript:alert(1)", ""},
		"a file":                        {"file:///etc/passwd", ""},
		"data":                          {"data:text/html,x", ""},
		"view-source":                   {"view-source:http://example.com/", ""},
		"the browser's own":             {"chrome://settings", ""},
		"about:blank with more":         {"about:blank#x", ""},
		"an underscore":                 {"http://my_app.example/", "http://my_app.example/"},
		"broken bytes":                  {"http://\xa4/", ""},
		"an empty label":                {"http://a..example/", ""},
		"no slashes":                    {"http:example.com", ""},
		"one slash":                     {"http:/example.com", ""},
		"three slashes":                 {"http:///example.com", ""},
		"a backslash":                   {`http:\\example.com`, ""},
		"a backslash in the path":       {`http://example.com\@evil.example/`, ""},
		"credentials":                   {"http://a:b@example.com/", ""},
		"an empty user":                 {"http://@example.com/", ""},
		"a line end":                    {"http://exam\nple.com/", ""},
		"a tab":                         {"java\tscript:alert(1)", ""},
		"a space before":                {" http://example.com/", ""},
		"an escaped host":               {"http://%65xample.com/", "http://example.com/"},
		"a zone":                        {"http://[fe80::1%25eth0]/", ""},
		"port zero":                     {"http://example.com:0/", ""},
		"a padded port":                 {"http://example.com:00080/", ""},
		"a port too large":              {"http://example.com:65536/", ""},
		"an empty port":                 {"http://example.com:/", ""},
		"nothing":                       {"", ""},
		"a host alone":                  {"example.com", ""},
	}
	for sentence, tc := range cases {
		t.Run(sentence, func(t *testing.T) {
			got, err := browse.CheckURL(tc.raw)
			if tc.want == "" && !fault.Is(err, fault.URLRefused) {
				t.Fatalf("got %q, %v; want url_refused", got, err)
			}
			if tc.want != "" && (err != nil || got != tc.want) {
				t.Fatalf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"http://example.com/", "http://0x7f.1/", "http://[::1]/", "about:blank", `http:\\a`, "http://bücher.example:80/ä"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		normal, err := browse.CheckURL(raw)
		if err != nil || normal == "about:blank" {
			return
		}
		u, err := url.Parse(normal)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			t.Fatalf("%q passes as %q (%v)", raw, normal, err)
		}
		if again, err := browse.CheckURL(normal); err != nil || again != normal {
			t.Fatalf("%q is normal as %q, which is normal as %q (%v)", raw, normal, again, err)
		}
		if strings.ContainsAny(normal, "\\\n\t ") {
			t.Fatalf("%q passes as %q", raw, normal)
		}
	})
}

func TestAnAddressWithoutASchemeIsToldHowItIsWritten(t *testing.T) {
	for raw, want := range map[string]string{
		"example.com": "https://example.com", "localhost:8080/x": "https://localhost:8080/x",
		"javascript:alert(1)": "", "ftp://example.com": "", "exa mple": "",
	} {
		_, err := browse.CheckURL(raw)
		told := fault.Of(err)
		if has := want != "" && strings.HasSuffix(told.Hint, want); told.Code != fault.URLRefused || has != (want != "") {
			t.Errorf("%s: %s (%s)", raw, told.Message, told.Hint)
		}
		if want == "" && strings.Contains(told.Hint, "https://"+raw) {
			t.Errorf("%s: proposes %s", raw, told.Hint)
		}
	}
}
