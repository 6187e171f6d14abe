package storagetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// Scenarios and checks may have several signatures.
func TestEverySignatureOfScenarioAndCheckRuns(t *testing.T) {
	create := func(acct *storagetest.Account) error {
		_, err := acct.Tables().CreateTable(context.Background(), "Accounts", nil)
		return err
	}
	runs, checks := 0, 0
	storagetest.CrashPoints(t, func(acct *storagetest.Account) { runs++; _ = create(acct) }, func(*storagetest.Account) { checks++ })
	storagetest.CrashPoints(t, func(acct *storagetest.Account) error { runs++; return create(acct) },
		func(acct *storagetest.Account) error {
			checks++
			if acct == nil {
				return errors.New("no account")
			}
			return nil
		})
	storagetest.CrashPoints(t, func(ctx context.Context, acct *storagetest.Account) error { runs++; return create(acct) },
		func(t *testing.T, acct *storagetest.Account) { checks++ })
	// Undisturbed, before, after and late at the one call, before the second. The late run has
	// two checks.
	assert.Equal(t, runs, 3*5)
	assert.Equal(t, checks, 3*6)
}
