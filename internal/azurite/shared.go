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

// Variable is the environment variable that controls whether tests use Azurite.
//
//   - unset: use it; if it is not available, skip the test and log the reason
//   - "require": use it; if it is not available, fail
//   - "off": skip
const Variable = "AZPATTERNS_AZURITE"

// startLimit is the time limit for starting Azurite. It includes the time to wait for an installation by another
// process.
const startLimit = 5 * time.Minute

var startShared = sync.OnceValues(func() (*Azurite, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return Start(ctx, nil)
})

// Shared returns the Azurite of this test process. The first call starts Azurite or connects to the running one; the
// connection stays open until the process ends. If Azurite is not available, Shared skips t, or fails it if Variable is
// "require".
func Shared(t testing.TB) *Azurite {
	t.Helper()
	a := obtain(t, startShared)
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

// obtain returns the result of get. If Variable is "off", or if get returns an error, it skips t or fails it.
func obtain[T any](t testing.TB, get func() (T, error)) T {
	t.Helper()
	var got T
	mode := os.Getenv(Variable)
	skip, err := checkMode(mode)
	if skip == "" && err == nil {
		got, err = get()
		skip, err = skipOrFail(mode, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if skip != "" {
		t.Skip(skip)
	}
	return got
}

// checkMode returns a reason to skip if mode is "off", and an error if mode is not valid.
func checkMode(mode string) (skip string, err error) {
	switch mode {
	case "", "require":
		return "", nil
	case "off":
		return "Azurite is switched off: " + Variable + "=off", nil
	default:
		return "", fmt.Errorf(`%s must be unset, "require" or "off"`, Variable)
	}
}

// skipOrFail returns a reason to skip, or the error to fail with, for the error of a start.
func skipOrFail(mode string, started error) (skip string, err error) {
	if errors.Is(started, ErrUnavailable) && mode != "require" {
		return started.Error(), nil
	}
	return "", started
}
