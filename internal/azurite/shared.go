package azurite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// Variable is the environment variable that says what tests do about Azurite.
//
//   - unset: use it; where it is not available, skip with the reason
//   - "require": use it; where it is not available, fail
//   - "off": skip
const Variable = "AZPATTERNS_AZURITE"

// startLimit bounds the one start of a test process. It has to leave room for an installation by another process.
const startLimit = 5 * time.Minute

var startShared = sync.OnceValues(func() (*Azurite, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return Start(ctx, nil)
})

// Shared returns the Azurite of this test process, which it starts or joins on the first call and holds until the
// process ends. Where Azurite is not available it skips t, or fails it if Variable says so.
func Shared(t testing.TB) *Azurite {
	t.Helper()
	mode := os.Getenv(Variable)
	if skip, err := refused(mode); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
	a, err := startShared()
	if skip, err := verdict(mode, err); err != nil {
		t.Fatal(err)
	} else if skip != "" {
		t.Skip(skip)
	}
	if err := a.Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && a.Err() != nil {
			t.Log(a.Err()) // the likely cause
		}
	})
	return a
}

// refused tells whether mode alone decides: a reason to skip, or an error for a mode that does not exist.
func refused(mode string) (skip string, err error) {
	switch mode {
	case "", "require":
		return "", nil
	case "off":
		return "Azurite is switched off: " + Variable + "=off", nil
	default:
		return "", fmt.Errorf(`%s must be unset, "require" or "off"`, Variable)
	}
}

// verdict turns the outcome of a start into a reason to skip or an error to fail with.
func verdict(mode string, started error) (skip string, err error) {
	if errors.Is(started, ErrUnavailable) && mode != "require" {
		return started.Error(), nil
	}
	return "", started
}
