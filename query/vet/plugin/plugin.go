// Package plugin registers the rules of the command vet with golangci-lint, as the module plugin azpatterns.
package plugin

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/rules"
)

func init() { register.Plugin("azpatterns", New) }

// Settings select the rules.
type Settings struct {
	Disable []string `json:"disable"` // names of rules that are not run
}

// New returns the plugin for the settings of the configuration of golangci-lint. It returns an error if they contain anything
// but the fields of Settings, or a name that no rule has.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, err
	}
	for _, name := range s.Disable {
		if rules.Named(name) == nil {
			return nil, fmt.Errorf("azpatterns: there is no rule %q", name)
		}
	}
	return linter(s), nil
}

type linter Settings

func (l linter) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return slices.DeleteFunc(rules.Analyzers(), func(a *analysis.Analyzer) bool { return slices.Contains(l.Disable, a.Name) }), nil
}

func (l linter) GetLoadMode() string { return register.LoadModeTypesInfo }
