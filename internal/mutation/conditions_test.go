package mutation_test

import (
	"flag"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/mutation"
)

var which = flag.String("mutation.mutants", "", "the mutants that are run, a regular expression of their names; none without it")

// suites are the mutants of conditions, with the package whose tests are to notice them. Most of the outbox are in package search.
var suites = []struct {
	folder  string
	mutants []mutation.Mutant
}{
	{"internal/txn", txnMutants},
	{"internal/outbox", outboxMutants},
	{"patterns/eventual", eventualMutants},
	{"patterns/reindex", reindexMutants},
	{"patterns/shards", shardsMutants},
	{"patterns/journal", slices.Concat(journalMutants, feedMutants)},
	{"patterns/largeentity", largeentityMutants},
}

// by are the flags that select the tests that show a mutant soon.
func by(tests string) []string { return []string{"-run", "^(" + tests + ")"} }

// Each mutant is noticed by an assertion of its tests, which pass without it.
func TestMutantsOfConditions(t *testing.T) {
	if *which == "" {
		t.Skip("-mutation.mutants selects some")
	}
	name := regexp.MustCompile(*which)
	found := 0
	for _, s := range suites {
		some := slices.DeleteFunc(slices.Clone(s.mutants), func(m mutation.Mutant) bool { return !name.MatchString(m.Name) })
		if found += len(some); len(some) == 0 {
			continue
		}
		t.Run(s.folder, func(t *testing.T) {
			suite := &mutation.Suite{
				Root: "../..", Packages: []string{"./" + s.folder}, Flags: []string{"-short"}, Timeout: 5 * time.Minute,
				Env: []string{"AZPATTERNS_AZURITE=off", "AZPATTERNS_SCHEDULES=4", "AZPATTERNS_SEED=1"},
			}
			suite.Check(t, some)
		})
	}
	if found == 0 {
		t.Errorf("no mutant has a name that matches %q", *which)
	}
}

// A condition that is written in another way than its mutant expects is noticed before the night.
func TestEveryMutantOfAConditionHasItsText(t *testing.T) {
	names := map[string]bool{}
	for _, s := range suites {
		for i := range s.mutants {
			m := &s.mutants[i]
			if _, _, err := m.Source("../.."); err != nil {
				t.Error(err)
			}
			if names[m.Name] || m.Breaks == "" {
				t.Errorf("mutant %q has no name of its own, or states nothing that it breaks", m.Name)
			}
			names[m.Name] = true
		}
	}
	if len(names) < 50 {
		t.Errorf("%d mutants", len(names))
	}
}
