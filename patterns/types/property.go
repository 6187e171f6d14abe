package types

// PropertyError is a property that cannot be stored, or cannot be read into its field. It
// names the property and the types or limits, never the value.
type PropertyError struct {
	Property string // name of the property
	Want     string // what the field or the service requires
	Got      string // what was found
	Err      error  // patterns.ErrTooLarge at a size limit, or the error of a text or JSON method; not part of the message
}

func (e *PropertyError) Error() string {
	return "property " + e.Property + ": want " + e.Want + ", got " + e.Got
}

func (e *PropertyError) Unwrap() error { return e.Err }
