package browse

type refs struct{}

func newRefs() *refs { return &refs{} }

type page struct{}
