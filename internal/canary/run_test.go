package canary_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
)

var allCalls = slices.Concat(coreCalls, storeCalls, patternCalls, largeCalls, indexCalls, queueCalls, logCalls, reindexCalls, heatCalls, regionCalls, governCalls, shardsCalls, pureCalls)

// Each call is made with every failure of the network, on rows and with arguments that contain canaries.
func TestNoErrorContainsAKeyOrAValue(t *testing.T) {
	for _, way := range ways {
		for _, accelerated := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, accelerated %v", way.name, accelerated), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := newEnv(t, accelerated)
					e.prepare()
					e.world.way.Store(&way)
					failed := map[string]bool{}
					for _, c := range allCalls {
						for i, result := range c.run(e) {
							inspect(t, fmt.Sprintf("%s (result %d)", c.name, i), result)
							if err, ok := result.(error); ok && err != nil {
								failed[c.name] = true
							}
						}
					}
					if len(failed) < 60 {
						t.Errorf("only %d calls failed", len(failed))
					}
				})
			})
		}
	}
}

// failures returns the errors of a sequence.
func failures[V any](seq iter.Seq2[V, error]) error {
	for _, err := range seq {
		if err != nil {
			return err
		}
	}
	return nil
}

// failure returns the error of a call with one more result.
func failure[V any](_ V, err error) error { return err }
