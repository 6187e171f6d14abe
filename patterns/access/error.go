package access

// Error says why a scope cannot be signed. It holds no key.
type Error struct {
	Field  string // what is wrong: "Range", "Expiry", …
	Reason string // why; "" if Err says it
	Err    error  // a *keys.Error for a key that the service cannot store; may be nil
}

// Error names the field and the reason.
func (e *Error) Error() string {
	text := "access: " + e.Field
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }
