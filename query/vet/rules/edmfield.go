package rules

import (
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// edmField reports fields of the EDM types of aztables in a plain struct. Only aztables.EDMEntity writes their annotations.
var edmField = &Rule{Name: "edmfield", Severity: Error, run: func(c *check) {
	for _, value := range c.marshalled() {
		s := plainStruct(c.TypeOf(value))
		if s == nil || source.IsNamed(c.TypeOf(value), source.Tables, "EDMEntity") {
			continue
		}
		for _, f := range c.fields(value, s) {
			if edm := edmType(f.Type()); edm != "" {
				c.report(f.at, "in a plain struct "+f.name+" is written without its type, so it is stored as a String, not as an "+edm+annotateField(f.name))
			}
		}
	}
}}
