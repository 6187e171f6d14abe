package azerr

import (
	"errors"
	"fmt"
	"testing"
)

func TestAnUnknownOutcomeStaysUnknownAfterALaterError(t *testing.T) {
	lost := fmt.Errorf("insert: %w", &UnknownOutcome{Cause: &Error{Op: "insert", Kind: ErrExists}})
	for _, later := range []error{
		&Error{Op: "get", Kind: ErrThrottled}, &Error{Op: "delete", Kind: ErrNotFound},
		fmt.Errorf("delete: %w", &Error{Op: "delete", Kind: ErrConflict}), ErrExists,
	} {
		err := StillUnknown(lost, later)
		if !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%v: not unknown", err)
		}
		for _, certain := range []error{ErrExists, ErrConflict, ErrNotFound} {
			if errors.Is(err, certain) {
				t.Errorf("%v matches %v", err, certain)
			}
		}
		if errors.Is(later, ErrThrottled) && !errors.Is(err, ErrThrottled) {
			t.Errorf("%v: the later error cannot be matched", err)
		}
		var e *Error
		if !errors.As(err, &e) || e.Op != "insert" {
			t.Errorf("%v: the first cause cannot be found", err)
		}
	}
}

func TestTheLaterErrorOfAnUnknownOutcomeIsReachable(t *testing.T) {
	want := &typed{}
	var got *typed
	if err := StillUnknown(ErrOutcomeUnknown, fmt.Errorf("read: %w", want)); !errors.As(err, &got) || got != want {
		t.Errorf("%v: got %v", err, got)
	}
}

func TestOnlyAnUnknownOutcomeMakesALaterErrorUnknown(t *testing.T) {
	for _, earlier := range []error{nil, ErrConflict, ErrThrottled} {
		if err := StillUnknown(earlier, ErrNotFound); err != ErrNotFound {
			t.Errorf("after %v: %v", earlier, err)
		}
	}
	if err := StillUnknown(ErrOutcomeUnknown, nil); err != nil {
		t.Errorf("after success: %v", err)
	}
}

type typed struct{}

func (*typed) Error() string { return "typed" }
