package azerr

// Default sets an option that is zero to value. A negative option is an [ErrBadOption].
func Default[N ~int | ~int64](option *N, value N, name string) error {
	switch {
	case *option < 0:
		return Errorf("%w: negative %s", ErrBadOption, name)
	case *option == 0:
		*option = value
	}
	return nil
}
