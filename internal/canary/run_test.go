package canary_test

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// exceptions are exported functions that return errors and are not called, with the reason.
var exceptions = map[string]string{
	"patterns.NewFinisher":             "names a negative option, and nothing else",
	"patterns.Finisher.Close":          "returns the error of its context",
	"patterns.Finisher.Flush":          "likewise",
	"heat.NewMeter":                    "returns no error yet",
	"eventual.Cancel":                  "the error contains the reason that the caller passed, which is always shown, and nothing of the other error: payload_test.go",
	"eventual.Snooze":                  "the error contains the duration that the caller passed, and nothing else",
	"largeentity.Stream.MarshalJSON":   "always returns the same error",
	"largeentity.Stream.UnmarshalJSON": "always returns the same error",
	"storagetest.Account.Fault":        "test kit: its messages describe the rules of the test",
	"storagetest.Account.Serve":        "test kit: its messages are about sockets",
	"storagetest.Server.Close":         "test kit: its messages are about sockets",
	"tablectl.Account.Container":       "returns the error of the constructor of azblob, which sends nothing",
	"tablectl.Account.Queue":           "returns the error of the constructor of azqueue, which sends nothing",
}

// Each exported function that returns an error is called with every failure of the network, on rows and with arguments
// that contain canaries. While the network is healthy the calls are made with all of them.
func TestNoErrorContainsAKeyOrAValue(t *testing.T) {
	exported := exportedCalls(t)
	called, failed := map[string]bool{}, map[string]bool{}
	for i, way := range ways {
		for _, accelerated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, accelerated %v", way.name, accelerated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := newEnv(t, accelerated)
					e.prepare()
					e.world.way.Store(&way)
					c := &caller{t: t, e: e, exported: exported, called: called, failed: map[string]bool{}, healthy: i == 0}
					c.callAll()
					if len(c.failed) < 60 {
						t.Errorf("only %d functions failed", len(c.failed))
					}
					for name := range c.failed {
						failed[name] = true
					}
				})
			})
		}
	}
	for name := range exported {
		_, excepted := exceptions[name]
		switch {
		case excepted && called[name]:
			t.Errorf("%s is called and in exceptions", name)
		case !excepted && !called[name]:
			t.Errorf("%s returns an error and was not called", name)
		case !excepted && !failed[name]:
			t.Errorf("%s returned no error", name)
		}
	}
	for name := range called {
		if !exported[name] {
			t.Errorf("no exported function %s returns an error", name)
		}
	}
	for name := range exceptions {
		if !exported[name] {
			t.Errorf("exceptions: no %s", name)
		}
	}
	if len(exported) < 150 {
		t.Errorf("only %d functions were found", len(exported))
	}
	t.Logf("%d functions were called, %d of them returned errors", len(called), len(failed))
}
