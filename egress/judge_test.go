package egress_test

import (
	"errors"
	"net/netip"
	"testing"

	"chaperone/egress"
)

func TestEveryVectorAddressIsJudged(t *testing.T) {
	for _, v := range append(vectors(t, "ip"), vectors(t, "ip-allow")...) {
		reason := egress.JudgeAddr(netip.MustParseAddr(v.Input))
		if reason.IsAllowed() != (v.Expect == "allow") {
			t.Errorf("%s %s: %s, want %s (%s)", v.ID, v.Input, reason, v.Expect, v.Why)
		}
	}
}

func TestAddressesAreRefusedForTheirReason(t *testing.T) {
	cases := map[string]egress.Reason{
		"127.0.0.1":                  egress.Loopback,
		"::1":                        egress.Loopback,
		"::ffff:127.0.0.1":           egress.Loopback,
		"0.0.0.0":                    egress.Unspecified,
		"10.0.0.0":                   egress.Private,
		"10.255.255.255":             egress.Private,
		"9.255.255.255":              egress.Allowed,
		"11.0.0.0":                   egress.Allowed,
		"172.31.255.255":             egress.Private,
		"172.32.0.0":                 egress.Allowed,
		"192.167.255.255":            egress.Allowed,
		"192.169.0.0":                egress.Allowed,
		"100.127.255.255":            egress.Special,
		"100.128.0.0":                egress.Allowed,
		"126.255.255.255":            egress.Allowed,
		"128.0.0.0":                  egress.Allowed,
		"169.254.169.254":            egress.LinkLocal,
		"169.255.0.0":                egress.Allowed,
		"168.63.129.15":              egress.Allowed,
		"168.63.129.16":              egress.Metadata,
		"::ffff:168.63.129.16":       egress.Metadata,
		"168.63.129.17":              egress.Allowed,
		"192.31.196.1":               egress.Special,
		"192.175.48.1":               egress.Special,
		"198.19.255.255":             egress.Special,
		"198.20.0.0":                 egress.Allowed,
		"224.0.0.1":                  egress.Multicast,
		"240.0.0.1":                  egress.Special,
		"::ffff:8.8.8.8":             egress.Allowed,
		"::ffff:0:127.0.0.1":         egress.Special,
		"64:ff9b::808:808":           egress.Special,
		"2001:20::1":                 egress.Special,
		"2001:200::1":                egress.Allowed,
		"2001:db7:ffff::1":           egress.Allowed,
		"2001:db9::1":                egress.Allowed,
		"2003::1":                    egress.Allowed,
		"3fff::1":                    egress.Special,
		"fc00::1":                    egress.Private,
		"fe80::1":                    egress.LinkLocal,
		"2606:4700::1%eth0":          egress.Zone,
		"2001:4860::200:5efe:a9fe":   egress.Allowed, // the identifier is elsewhere
		"2001:4860::200:5efe:7f00:1": egress.Embedded,
		"2001:4860::5efe:808:808":    egress.Embedded,
		"2001:4860::100:5efe:7f00:1": egress.Allowed,
		"2001:4860::5eff:7f00:1":     egress.Allowed,
	}
	for text, want := range cases {
		if got := egress.JudgeAddr(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := egress.JudgeAddr(netip.Addr{}); got != egress.BadAddress {
		t.Errorf("no address: %s", got)
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for _, reason := range []egress.Reason{"", "something new"} {
		if reason.IsAllowed() {
			t.Errorf("%q permits", reason)
		}
	}
}

func TestEveryVectorHostIsRefusedOrCanonical(t *testing.T) {
	for _, v := range vectors(t, "host") {
		spelling, reason := egress.ReadHost(v.Input)
		if reason.IsAllowed() {
			t.Errorf("%s %q is allowed as %s (%s)", v.ID, v.Input, spelling, v.Why)
		}
		if _, err := egress.CheckURL("http://"+v.Input+"/", nil); err == nil {
			t.Errorf("%s: a URL with %q passes (%s)", v.ID, v.Input, v.Why)
		}
	}
}

func TestHostsAreReadAsABrowserReadsThem(t *testing.T) {
	cases := map[string]struct {
		spelling string
		reason   egress.Reason
	}{
		"good.test":                 {"good.test", egress.Allowed},
		"GOOD.Test.":                {"good.test", egress.Allowed},
		"good.test..":               {"", egress.BadHost},
		"a..test":                   {"", egress.BadHost},
		".test":                     {"", egress.BadHost},
		"":                          {"", egress.BadHost},
		".":                         {"", egress.BadHost},
		"my_host.good.test":         {"my_host.good.test", egress.Allowed},
		"r3---sn-x.good.test":       {"r3---sn-x.good.test", egress.Allowed},
		"göd.test":                  {"xn--gd-fka.test", egress.Allowed},
		"faß.test":                  {"xn--fa-hia.test", egress.Allowed},
		"%67ood.test":               {"good.test", egress.Allowed},
		"good%2etest":               {"good.test", egress.Allowed},
		"good%2ftest":               {"", egress.BadHost},
		"good.test%":                {"", egress.BadHost},
		"good test":                 {"", egress.BadHost},
		"xn--a.test":                {"", egress.BadHost},
		"good.te\u202est":           {"", egress.BadHost},
		"8.8.8.8":                   {"8.8.8.8", egress.Allowed},
		"134744072":                 {"8.8.8.8", egress.Allowed},
		"0x8.0X8.010.8":             {"8.8.8.8", egress.Allowed},
		"8.526344":                  {"8.8.8.8", egress.Allowed},
		"8.8.2056":                  {"8.8.8.8", egress.Allowed},
		"8.8.8.8.":                  {"8.8.8.8", egress.Allowed},
		"8.8.8.8.8":                 {"", egress.BadHost},
		"8.8.8.08":                  {"", egress.BadHost},
		"8.8.65536":                 {"", egress.BadHost},
		"8..8":                      {"", egress.BadHost},
		"good.8":                    {"", egress.BadHost},
		"good.0x":                   {"", egress.BadHost},
		"good.8a":                   {"good.8a", egress.Allowed},
		"1.0x":                      {"1.0.0.0", egress.Allowed},
		"4294967295":                {"255.255.255.255", egress.Special},
		"0x7f.1":                    {"127.0.0.1", egress.Loopback},
		"127。0。0。1":                 {"127.0.0.1", egress.Loopback},
		"[2606:4700:4700::1111]":    {"[2606:4700:4700::1111]", egress.Allowed},
		"[2606:4700:4700:0::1111]":  {"[2606:4700:4700::1111]", egress.Allowed},
		"[::1]":                     {"[::1]", egress.Loopback},
		"[::1":                      {"", egress.BadHost},
		"[v1.x]":                    {"", egress.BadHost},
		"2606:4700:4700::1111":      {"", egress.BadHost},
		"localhost.":                {"localhost", egress.LocalName},
		"localhost.localdomain":     {"localhost.localdomain", egress.LocalName},
		"%6Cocalhost":               {"localhost", egress.LocalName},
		"notlocalhost.test":         {"notlocalhost.test", egress.Allowed},
		"printer.local":             {"printer.local", egress.LocalName},
		"vault.internal":            {"vault.internal", egress.LocalName},
		"router.home.arpa":          {"router.home.arpa", egress.LocalName},
		"abc.onion":                 {"abc.onion", egress.LocalName},
		"METADATA":                  {"metadata", egress.MetadataName},
		"metadata.google.internal.": {"metadata.google.internal", egress.MetadataName},
		"metadata.good.test":        {"metadata.good.test", egress.Allowed},
		"intranet":                  {"intranet", egress.SingleLabel},
	}
	for raw, want := range cases {
		spelling, reason := egress.ReadHost(raw)
		if spelling != want.spelling || reason != want.reason {
			t.Errorf("%q: %q %s, want %q %s", raw, spelling, reason, want.spelling, want.reason)
		}
	}
}

func TestEveryVectorURLIsChecked(t *testing.T) {
	for _, v := range vectors(t, "url") {
		u, err := egress.CheckURL(v.Input, nil)
		switch v.Expect {
		case "reject":
			if _, ok := errors.AsType[*egress.Refusal](err); !ok {
				t.Errorf("%s %q: %v, %v, want a refusal (%s)", v.ID, v.Input, u, err, v.Why)
			}
		case "pass-unchanged":
			if err != nil || u.String() != v.Input {
				t.Errorf("%s %q: %v, %v (%s)", v.ID, v.Input, u, err, v.Why)
			}
		default:
			t.Errorf("%s: unknown expectation %q", v.ID, v.Expect)
		}
	}
}

func TestURLsAreRefusedForTheirReason(t *testing.T) {
	cases := map[string]struct {
		reason egress.Reason
		code   string
	}{
		"":                                  {egress.BadURL, "bad_request"},
		"good.test":                         {egress.BadURL, "bad_request"},
		"http:/good.test/":                  {egress.BadURL, "bad_request"},
		"http:///good.test/":                {egress.BadHost, "bad_request"},
		"http://good.test/a\tb":             {egress.BadURL, "bad_request"},
		"http://good.test/\xff":             {egress.BadURL, "bad_request"},
		`http://good.test/a\b`:              {egress.BadURL, "bad_request"},
		"http://good.test:/":                {egress.BadPort, "bad_request"},
		"http://good.test:+80/":             {egress.BadPort, "bad_request"},
		"http://good.test:65616/":           {egress.BadPort, "bad_request"},
		"http://good.test:443/":             {egress.Port, "url_refused"},
		"http://good.test:8080/":            {egress.Port, "url_refused"},
		"javascript:alert(1)":               {egress.Scheme, "url_refused"},
		"about:blank":                       {egress.Scheme, "url_refused"},
		"http://user@good.test/":            {egress.UserInfo, "url_refused"},
		"http://good.test?x=@127.0.0.1/":    {egress.UserInfo, "url_refused"},
		"http://good.test?@127.0.0.1":       {egress.UserInfo, "url_refused"},
		"https://0x7f.1/":                   {egress.Loopback, "address_refused"},
		"https://[::ffff:169.254.169.254]/": {egress.LinkLocal, "address_refused"},
		"https://[fe80::1%25eth0]/":         {egress.Zone, "address_refused"},
		"http://localhost:7788/":            {egress.LocalName, "address_refused"},
		"http://metadata.google.internal/":  {egress.MetadataName, "address_refused"},
		"http://intranet/":                  {egress.SingleLabel, "address_refused"},
	}
	for raw, want := range cases {
		_, err := egress.CheckURL(raw, nil)
		refusal, ok := errors.AsType[*egress.Refusal](err)
		if !ok || refusal.Reason != want.reason || refusal.Code != want.code {
			t.Errorf("%q: %v, want %s: %s", raw, err, want.code, want.reason)
		}
	}
}

func TestURLsPassInCanonicalSpelling(t *testing.T) {
	cases := map[string]string{
		"HTTPS://GÖD.Test./A%2fb?q=a@b|c#f": "https://xn--gd-fka.test/A%2fb?q=a@b|c#f",
		"https://good.test/@name":           "https://good.test/@name",
		"https://good.test":                 "https://good.test",
		"https://good.test:443/":            "https://good.test:443/",
		"http://good.test:80/":              "http://good.test:80/",
		"http://good.test?q=1":              "http://good.test?q=1",
		`http://good.test/?q=a\b`:           `http://good.test/?q=a\b`,
		"http://good.test/a b?c d":          "http://good.test/a%20b?c%20d",
		"http://134744072/":                 "http://8.8.8.8/",
		"http://[2606:4700:4700:0::1111]/":  "http://[2606:4700:4700::1111]/",
	}
	for raw, want := range cases {
		u, err := egress.CheckURL(raw, nil)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v, want %q", raw, u, err, want)
		}
	}
}

func TestATestOriginAdmitsItselfAndNothingElse(t *testing.T) {
	admitted := []string{"http://127.0.0.1:4001", "http://localhost:4002"}
	passes := map[string]bool{
		"http://127.0.0.1:4001/a":          true,
		"http://2130706433:4001/":          true, // the same origin in another spelling
		"http://localhost:4002/":           true,
		"http://LOCALHOST.:4002/":          true,
		"https://127.0.0.1:4001/":          false,
		"http://127.0.0.1:4002/":           false,
		"http://localhost:4001/":           false,
		"http://127.0.0.1/":                false,
		"http://127.0.0.2:4001/":           false,
		"http://[::1]:4001/":               false,
		"http://[::ffff:7f00:1]:4001/":     false,
		"http://a.localhost:4002/":         false,
		"http://good.test@127.0.0.1:4001/": false,
	}
	for raw, want := range passes {
		if _, err := egress.CheckURL(raw, admitted); (err == nil) != want {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestOnlyExactLoopbackOriginsCanBeTestOrigins(t *testing.T) {
	for _, raw := range []string{
		"", "127.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:80/", "http://127.0.0.1:080",
		"http://127.0.0.1:0", "http://127.0.0.2:80", "http://[::1]:80", "http://good.test:80", "http://10.0.0.1:80",
		"http://u@127.0.0.1:80", "http://LOCALHOST:80",
	} {
		if _, err := egress.New(egress.Options{TestOrigins: []string{raw}}); err == nil {
			t.Errorf("%q is admitted", raw)
		}
		if _, err := egress.CheckURL("https://good.test/", []string{raw}); err == nil {
			t.Errorf("%q is admitted by CheckURL", raw)
		}
	}
}
