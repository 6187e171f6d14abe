package rules

import (
	"os"
	"testing"

	_ "github.com/Azure/azure-sdk-for-go/sdk/data/aztables"   // for the programs in testdata
	_ "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"  // for the programs in testdata
	_ "github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue" // for the programs in testdata
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// suite runs all rules, so that each line of the corpora is checked by each rule, and everything is loaded once.
func suite() *analysis.Analyzer {
	a := All()[0].Analyzer()
	a.Name, a.Doc, a.URL = "suite", "all rules", ""
	run := make([]*analysis.Analyzer, 0)
	for _, r := range All() {
		run = append(run, r.Analyzer())
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		for _, one := range run {
			if _, err := one.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return a
}

func TestEachRuleReportsExactlyTheMarkedLines(t *testing.T) {
	var corpora []string
	for _, r := range All() {
		if _, err := os.Stat("testdata/" + r.Name); err != nil {
			t.Errorf("rule %s has no corpus", r.Name)
		}
		corpora = append(corpora, "./rules/testdata/"+r.Name+"/...")
	}
	analysistest.RunWithSuggestedFixes(t, "..", suite(), corpora...)
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
