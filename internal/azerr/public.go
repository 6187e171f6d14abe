package azerr

// Public lets errors.As find the public form of an internal error. The public error
// types belong to package patterns, which the packages below it cannot import: each
// internal error type calls Public from its As method, and patterns sets Convert.
func Public(err error, target any) bool { return Convert != nil && Convert(err, target) }

// Convert sets the public error that target points to from err, and reports whether
// target is of the public type of err. It is set once, when package patterns is
// initialized.
var Convert func(err error, target any) bool

// As lets errors.As find the public type.
func (e *Error) As(target any) bool { return Public(e, target) }
