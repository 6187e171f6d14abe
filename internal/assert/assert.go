// Package assert contains the checks that most tests make. It imports nothing of the module, so that the tests inside every
// package can use it. The first value is what the test got, the second what it wanted; what follows describes the case.
package assert

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// T is what a test, a benchmark, a fuzz test or a property test has.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

type now struct{ T }

func (t now) Errorf(format string, args ...any) {
	t.Helper()
	t.Fatalf(format, args...)
}

// Now makes a check end the test if it fails: Equal(Now(t), len(rows), 3).
func Now(t T) T { return now{t} }

func label(what []any) string {
	if len(what) == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintln(what...), "\n") + ": "
}

func unequal(t T, got, want any, what []any) {
	t.Helper()
	format := "%sgot %+v, want %+v"
	if _, ok := got.(string); ok {
		format = "%sgot %q, want %q"
	}
	t.Errorf(format, label(what), got, want)
}

// Equal checks that got == want.
func Equal[V comparable](t T, got, want V, what ...any) {
	if got != want {
		t.Helper()
		unequal(t, got, want, what)
	}
}

// DeepEqual checks that the values are the same for reflect.DeepEqual.
func DeepEqual[V any](t T, got, want V, what ...any) {
	if !reflect.DeepEqual(got, want) {
		t.Helper()
		unequal(t, got, want, what)
	}
}

// EqualSlices checks that the slices have the same elements in the same order.
func EqualSlices[V comparable](t T, got, want []V, what ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		unequal(t, got, want, what)
	}
}

// EqualMaps checks that the maps have the same keys with the same values.
func EqualMaps[K, V comparable](t T, got, want map[K]V, what ...any) {
	if !maps.Equal(got, want) {
		t.Helper()
		unequal(t, got, want, what)
	}
}

// Contains checks that the text got contains the text want.
func Contains(t T, got, want string, what ...any) {
	if !strings.Contains(got, want) {
		t.Helper()
		t.Errorf("%s%q does not contain %q", label(what), got, want)
	}
}

// NoError ends the test if err is not nil.
func NoError(t T, err error, what ...any) {
	if err != nil {
		t.Helper()
		t.Fatalf("%s%+v", label(what), err)
	}
}

// Must returns the result of a call that must succeed: Must(table.Get(ctx, key))(t).
func Must[R any](r R, err error) func(T) R {
	return func(t T) R {
		t.Helper()
		NoError(t, err)
		return r
	}
}

// Failed checks that err is not nil.
func Failed(t T, err error, what ...any) {
	if err == nil {
		t.Helper()
		t.Errorf("%sno error", label(what))
	}
}

// WantError checks that err is target.
func WantError(t T, err, target error, what ...any) {
	if !errors.Is(err, target) {
		t.Helper()
		unequal(t, err, target, what)
	}
}

// WantHidden checks that the message of err, which may be logged, contains none of the secrets. A nil err passes.
func WantHidden(t T, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		return
	}
	for _, s := range secrets {
		if strings.Contains(err.Error(), s) {
			t.Errorf("the message %q contains %q", err, s)
		}
	}
}

// ErrorOf returns the error of a call: ErrorOf(table.Insert(ctx, &v)).
func ErrorOf[R any](_ R, err error) error { return err }

// MayFail ignores the result of a call that fails in some cases of a test: MayFail(table.Insert(ctx, &v)).
func MayFail[R any](R, error) {}

// All returns the values of a sequence that must not end with an error.
func All[V any](t T, seq iter.Seq2[V, error]) []V {
	t.Helper()
	var all []V
	for v, err := range seq {
		NoError(t, err)
		all = append(all, v)
	}
	return all
}

// Failure returns the error of a sequence that must end with one, and immediately after it. Values may precede it.
func Failure[V any](t T, seq iter.Seq2[V, error]) error {
	t.Helper()
	var failed error
	for _, err := range seq {
		if failed != nil {
			t.Fatalf("the sequence continues after an error")
		}
		failed = err
	}
	if failed == nil {
		t.Fatalf("no error")
	}
	return failed
}
