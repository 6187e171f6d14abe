package sdkerr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/patterns/types"
)

func TestAnUnknownOutcomeStaysUnknownAfterALaterError(t *testing.T) {
	lost := fmt.Errorf("insert: %w", &UnknownOutcome{Cause: &types.Error{Op: "insert", Kind: azerr.ErrExists}})
	for _, later := range []error{
		&types.Error{Op: "get", Kind: azerr.ErrThrottled}, &types.Error{Op: "delete", Kind: azerr.ErrNotFound},
		fmt.Errorf("delete: %w", &types.Error{Op: "delete", Kind: azerr.ErrConflict}), azerr.ErrExists,
	} {
		err := StillUnknown(lost, later)
		assert.WantError(t, err, azerr.ErrOutcomeUnknown, "not unknown")
		for _, certain := range []error{azerr.ErrExists, azerr.ErrConflict, azerr.ErrNotFound} {
			if errors.Is(err, certain) {
				t.Errorf("%v matches %v", err, certain)
			}
		}
		if errors.Is(later, azerr.ErrThrottled) && !errors.Is(err, azerr.ErrThrottled) {
			t.Errorf("%v: the later error cannot be matched", err)
		}
		var e *types.Error
		if !errors.As(err, &e) || e.Op != "insert" {
			t.Errorf("%v: the first cause cannot be found", err)
		}
	}
}

func TestTheLaterErrorOfAnUnknownOutcomeIsReachable(t *testing.T) {
	want := &typed{}
	var got *typed
	if err := StillUnknown(azerr.ErrOutcomeUnknown, fmt.Errorf("read: %w", want)); !errors.As(err, &got) || got != want {
		t.Errorf("%v: got %v", err, got)
	}
}

func TestOnlyAnUnknownOutcomeMakesALaterErrorUnknown(t *testing.T) {
	for _, earlier := range []error{nil, azerr.ErrConflict, azerr.ErrThrottled} {
		assert.Equal(t, StillUnknown(earlier, azerr.ErrNotFound), azerr.ErrNotFound, "after", earlier)
	}
	assert.Equal(t, StillUnknown(azerr.ErrOutcomeUnknown, nil), nil, "after success")
}

type typed struct{}

func (*typed) Error() string { return "typed" }

// An error of a user's function is sealed before it is described: what is known of the outcome stays visible.
func TestAnUnknownOutcomeStaysVisibleWhenItIsSealed(t *testing.T) {
	unknown := &UnknownOutcome{Cause: NewWrite("insert", &azcore.ResponseError{StatusCode: 500, ErrorCode: "InternalError"})}
	sealed := azerr.Seal(fmt.Errorf("secret: %w", unknown))
	if got := sealed.Error(); strings.Contains(got, "secret") || !strings.Contains(got, "outcome unknown") || !strings.Contains(got, "500 InternalError") {
		t.Errorf("described as %q", got)
	}
	assert.WantError(t, sealed, azerr.ErrOutcomeUnknown)
}
