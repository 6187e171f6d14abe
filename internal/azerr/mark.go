package azerr

import "errors"

// Unsent marks err as found before anything was sent. It keeps azcore from trying again.
func Unsent(err error) error { return &unsent{err} }

// IsUnsent reports whether [Unsent] marked err.
func IsUnsent(err error) bool {
	var mark *unsent
	return errors.As(err, &mark)
}

type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }
func (*unsent) NonRetriable()   {}

// Final marks err as one after which azcore must not try again, although the request was sent.
func Final(err error) error { return &final{err} }

// IsFinal reports whether [Final] marked err.
func IsFinal(err error) bool {
	var mark *final
	return errors.As(err, &mark)
}

type final struct{ error }

func (f *final) Unwrap() error { return f.error }
func (*final) NonRetriable()   {}
