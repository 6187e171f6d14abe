package harness

import (
	"context"
	"github.com/azpatterns/azpatterns/internal/assert"
	"slices"
	"sync"
	"testing"
)

func TestKeptSeedsAreThoseOfTheirSubtest(t *testing.T) {
	text := "# what failed\n\nTestX/all_views 12 a lost reply\nTestY/all_views 13\nTestX/all_views 7\n"
	seeds, err := parseSeeds(text, "TestX/all_views")
	assert.NoError(t, err)
	assert.EqualSlices(t, seeds, []uint64{12, 7})
	for _, bad := range []string{"TestX/all_views", "TestX/all_views twelve"} {
		assert.Failed(t, assert.ErrorOf(parseSeeds(bad, "TestX/all_views")), "no error for", bad)
	}
}

// The seeds follow from the seed of the run and the name of the subtest, and from nothing else.
func TestASeedOfTheRunRepeatsItsSchedules(t *testing.T) {
	defer func(before func() uint64) { runSeed = before }(runSeed)
	seeds := func(run uint64, name string) []uint64 {
		runSeed = func() uint64 { return run }
		all, err := seedsOf(name, 3)
		assert.NoError(t, err)
		assert.Equal(assert.Now(t), len(all), 3)
		return all
	}
	first := seeds(1, "TestX/plain")
	assert.EqualSlices(t, first, seeds(1, "TestX/plain"), "and")
	if other := seeds(2, "TestX/plain"); slices.Equal(first, other) {
		t.Errorf("another run has the same seeds, %v", other)
	}
	if other := seeds(1, "TestX/accelerated"); slices.Equal(first, other) {
		t.Errorf("another subtest has the same seeds, %v", other)
	}
}

// The folder of this package keeps the seed 4711 for the subtest.
func TestARunRepeatsKeptSeeds(t *testing.T) {
	t.Setenv(SchedulesVariable, "2")
	var mu sync.Mutex
	var seen []uint64
	t.Run("suite", func(t *testing.T) {
		Schedules(t, []string{"one mode"}, 100, func(_ context.Context, _ string, s *Schedule) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, s.Seed)
		})
	})
	assert.Equal(assert.Now(t), len(seen), 3)
	assert.Equal(t, seen[0], 4711)
}
