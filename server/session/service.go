package session

// Service is in the making; see its methods' contracts:
//
//	Open(ctx, actor account.Actor, spec Spec) (View, error)
//	Do(ctx, actor account.Actor, id string, a browse.Action) (browse.Result, error)   // the one door
//	Close(ctx, actor account.Actor, id string) (View, error)                          // ending twice is ending once
//	Get(ctx, actor account.Actor, id string) (View, error)
//	List(ctx, actor account.Actor, projectIDOrName string, page Page) ([]View, error) // newest first
//	Screen(ctx, actor account.Actor, id string) (live.Source, error)                  // for live.Hub.Watch, key = id
//	Events(ctx, actor account.Actor, scope Scope, after int64, sink func(Event) error) error
//	    // durable events after a seq, then live, until ctx ends; Scope{Project, Session string}
//	Publish(ctx, Event) error                                                         // durable, then to all who wait
//	PolicyChanged(ctx, projectID string)                                              // ends sessions that the new policy would not permit
//	Shutdown(ctx) error
