package ledger_test

import (
	"testing"

	"chaperone/server/ledger"
)

// The expected hash was computed by other means over the bytes that doc.go describes.
func TestTheHashCoversTheDocumentedBytes(t *testing.T) {
	row := ledger.Row{
		Account: "u_1", Seq: 7, Time: noon(), ActorKind: "token", ActorID: "k_1", Run: "r1", Project: "p_1",
		Session: "s_1", Kind: "browser", Direction: "out", Peer: "example.com", Method: "click",
		RequestDigest: "ab", ResponseDigest: "cd", Outcome: "done", Detail: `{"tab":"t1"}`, PrevHash: "00",
		Hash: "is not part of itself",
	}
	const want = "7e3cfc40e8be5b03fa90b8d12456d11cd2f3127d13474b26a436552cbb759e14"
	if got := ledger.HashRow(row); got != want {
		t.Errorf("hash is %s, want %s", got, want)
	}
}

func FuzzNoTwoRowsShareTheirBytes(f *testing.F) {
	f.Add("click", "done", "clic", "kdone")
	f.Add("", "5:click,", "5:click,", "")
	f.Fuzz(func(t *testing.T, method, request, otherMethod, otherRequest string) {
		one := ledger.HashRow(ledger.Row{Time: noon(), Method: method, RequestDigest: request})
		two := ledger.HashRow(ledger.Row{Time: noon(), Method: otherMethod, RequestDigest: otherRequest})
		if same := method == otherMethod && request == otherRequest; same != (one == two) {
			t.Errorf("%q %q and %q %q", method, request, otherMethod, otherRequest)
		}
	})
}
