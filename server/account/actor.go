package account

// Kind says what sort of actor asks.
type Kind string

// The kinds of actor.
const (
	Person Kind = "person"
	Token  Kind = "token"
)

// Role is how far an agent token reaches. A person always has Control.
type Role string

// The roles of an agent token.
const (
	Observe Role = "observe"
	Control Role = "control"
)

// Actor is who asks, already authenticated. The zero Actor may do nothing.
type Actor struct {
	Account     string `json:"account"`
	AccountName string `json:"account_name"`
	Kind        Kind   `json:"kind"`
	TokenID     string `json:"token,omitempty"`
	Project     string `json:"project,omitempty"`
	Role        Role   `json:"role"`
}

// ID is what the ledger names this actor by: the token's id, or the account's.
func (a Actor) ID() string {
	if a.Kind == Token {
		return a.TokenID
	}
	return a.Account
}

// IsPerson reports whether a person logged in.
func (a Actor) IsPerson() bool { return a.Account != "" && a.Kind == Person }

// CanSee reports whether the actor may read within a project of its account: bound to none, or to this.
func (a Actor) CanSee(project string) bool {
	return a.Account != "" && (a.Project == "" || a.Project == project)
}

// CanControl reports whether the actor may act within a project of its account.
func (a Actor) CanControl(project string) bool { return a.Role == Control && a.CanSee(project) }

// CanManage reports whether the actor may change the account itself: projects, pairing, tokens. A person
// may, and the command line's local token, which no project binds.
func (a Actor) CanManage() bool { return a.CanControl("") && a.Project == "" }
