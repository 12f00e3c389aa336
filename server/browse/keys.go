package browse

// stroke is one key with its modifiers held.
type stroke struct{ key string }

func strokes(keys string) ([]stroke, error) { return []stroke{{keys}}, nil }
