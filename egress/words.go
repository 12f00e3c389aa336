package egress

// Words says r to a person or a model: what it is about an address or a request that is not permitted, or what went
// wrong. The text ends without a stop, fits after a colon, and never holds anything that a client or an origin sent.
func (r Reason) Words() string {
	if said, ok := words()[r]; ok {
		return said
	}
	return "it is not permitted"
}

func words() map[Reason]string {
	return map[Reason]string{
		Allowed:    "it is permitted",
		TestOrigin: "it is a test origin",

		BadAddress:   "it is no address",
		Zone:         "it is an address with a zone, of this machine's own network",
		Unspecified:  "it is the unspecified address, which means the machine itself",
		Loopback:     "it is, or its name leads to, a loopback address, that is, the machine itself",
		Private:      "it is, or its name leads to, a private address",
		LinkLocal:    "it is, or its name leads to, a link-local address, where clouds keep credentials",
		Multicast:    "it is, or its name leads to, a multicast address",
		Metadata:     "it is, or its name leads to, a cloud's metadata service",
		Embedded:     "it is an address that carries another one inside",
		Special:      "it is, or its name leads to, an address that is reserved and not public",
		OwnAddress:   "it is, or its name leads to, an address of the server's own machine",
		BadHost:      "its host is neither a name nor an address",
		LocalName:    "its name belongs to local networks alone",
		MetadataName: "its name is that of a cloud's metadata service",
		SingleLabel:  "its name has one part only, as names of local networks have",

		BadURL:   "it holds a spelling that browsers read in another way",
		Scheme:   "only http and https are permitted",
		UserInfo: "it holds credentials, or an @ that looks like them",
		BadPort:  "its port is not one",
		Port:     "only http on port 80 and https on port 443 are permitted",

		Method:       "a read-only session sends GET and HEAD alone in the clear",
		BadMethod:    "its method is not permitted",
		BadRequest:   "the request is malformed",
		NotProxied:   "it is no request to a proxy",
		HeadTooBig:   "the request's head is too long",
		HeadTooSlow:  "the request's head came too slowly",
		BodyTooSlow:  "the request's body came too slowly",
		Encoding:     "its transfer encoding is not known",
		Upgrade:      "an upgrade needs a tunnel",
		Busy:         "too many connections are open",
		TooManyBytes: "more bytes than the limit passed",
		TooQuiet:     "nothing was sent for too long",
		TooOld:       "it was open for too long",

		NotResolved:       "the name does not resolve",
		LookupTimeout:     "the name was not resolved in time",
		TooManyAnswers:    "the name has too many addresses",
		Unreachable:       "nobody answers at that address",
		ConnectionRefused: "the connection was refused",
		PeerChanged:       "the connection went to another address",
		BadAnswer:         "the server closed the connection, or its answer does not read",
		AnswerTimeout:     "the server did not answer in time",
		ClientGone:        "the browser gave it up",
	}
}
