// Package plugin registers the rules of the command vet with golangci-lint, as the module plugin azpatterns.
//
// golangci-lint custom builds a golangci-lint with the plugin from this file, .custom-gcl.yml, and a clone of azpatterns. The
// second entry is needed because golangci-lint does not follow the replace directives of a plugin:
//
//	version: v2.15.0
//	name: golangci-azpatterns
//	plugins:
//	  - module: github.com/azpatterns/azpatterns/query/vet
//	    import: github.com/azpatterns/azpatterns/query/vet/plugin
//	    path: azpatterns/query/vet
//	  - module: github.com/azpatterns/azpatterns
//	    import: github.com/azpatterns/azpatterns/query
//	    path: azpatterns
//
// The file .golangci.yml of the program to check enables it. Without uniq-by-line golangci-lint shows one finding a line:
//
//	version: "2"
//	issues:
//	  uniq-by-line: false
//	linters:
//	  enable: [azpatterns]
//	  settings:
//	    custom:
//	      azpatterns:
//	        type: module
//	        settings:
//	          disable: [tablescan] # names of rules that are not run; optional
//	          enable: [retried] # names of rules that are off by default; optional
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
	Enable  []string `json:"enable"`  // names of rules that are off by default
}

// New returns the plugin for the settings of the configuration of golangci-lint. It returns an error if they contain anything
// but the fields of Settings, or a name that no rule has.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Concat(s.Disable, s.Enable) {
		if rules.Named(name) == nil {
			return nil, fmt.Errorf("azpatterns: there is no rule %q", name)
		}
	}
	return linter(s), nil
}

type linter Settings

func (l linter) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return slices.DeleteFunc(rules.Analyzers(), func(a *analysis.Analyzer) bool {
		return slices.Contains(l.Disable, a.Name) || rules.Named(a.Name).Off && !slices.Contains(l.Enable, a.Name)
	}), nil
}

func (l linter) GetLoadMode() string { return register.LoadModeTypesInfo }
