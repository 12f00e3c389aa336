package account_test

import (
	"testing"

	"chaperone/server/account"
)

func TestWhatAnActorMay(t *testing.T) {
	type may struct{ see, control, manage bool }
	for name, test := range map[string]struct {
		actor account.Actor
		want  may
	}{
		"nobody":                       {account.Actor{}, may{}},
		"nobody with a role":           {account.Actor{Role: account.Control}, may{}},
		"a person":                     {account.Account{ID: "u_1"}.Owner(), may{true, true, true}},
		"a control token of this":      {account.Actor{Account: "u_1", Kind: account.Token, Project: "p_1", Role: account.Control}, may{true, true, false}},
		"an observe token of this":     {account.Actor{Account: "u_1", Kind: account.Token, Project: "p_1", Role: account.Observe}, may{true, false, false}},
		"a control token of another":   {account.Actor{Account: "u_1", Kind: account.Token, Project: "p_2", Role: account.Control}, may{}},
		"the local token":              {account.Actor{Account: "u_1", Kind: account.Token, Role: account.Control}, may{true, true, true}},
		"an observe token bound to no": {account.Actor{Account: "u_1", Kind: account.Token, Role: account.Observe}, may{true, false, false}},
	} {
		got := may{test.actor.CanSee("p_1"), test.actor.CanControl("p_1"), test.actor.CanManage()}
		if got != test.want {
			t.Errorf("%s may %+v, want %+v", name, got, test.want)
		}
	}
}
