package plugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/azpatterns/azpatterns/query/vet/rules"
)

func TestGolangciLintFindsThePluginAndItsRules(t *testing.T) {
	make, err := register.GetPlugin("azpatterns")
	if err != nil {
		t.Fatal(err)
	}
	off := 0
	for _, r := range rules.All() {
		if r.Off {
			off++
		}
	}
	for disabled, settings := range []any{
		map[string]any{},
		map[string]any{"disable": []string{"tablescan"}},
		map[string]any{"disable": []string{"tablescan", "injection", "onekey"}, "enable": []string{"retried"}},
	} {
		linter, err := make(settings)
		if err != nil {
			t.Fatal(err)
		}
		if mode := linter.GetLoadMode(); mode != register.LoadModeTypesInfo {
			t.Errorf("golangci-lint loads packages in mode %q, so the rules have no types", mode)
		}
		analyzers, err := linter.BuildAnalyzers()
		if err != nil || len(analyzers) != len(rules.All())-off-disabled {
			t.Errorf("with %v there are %d rules, %v", settings, len(analyzers), err)
		}
	}
}

func TestThePluginRefusesSettingsThatNameNoRule(t *testing.T) {
	for _, settings := range []any{map[string]any{"disable": []string{"tablescam"}}, map[string]any{"disabled": []string{"tablescan"}}} {
		if _, err := New(settings); err == nil {
			t.Errorf("%v is accepted", settings)
		}
	}
}
