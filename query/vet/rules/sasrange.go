package rules

import (
	"go/ast"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// sasRange reports signatures of the SDK that are limited to a range of keys: their address lacks the range.
var sasRange = &Rule{Name: "sasrange", Severity: Error, run: func(c *check) {
	const message = "the SDK signs this limit but leaves it out of the address, so the service refuses the signature; build the address by hand (azpatterns: package govern)"
	c.literals(func(lit *ast.CompositeLit) {
		if !source.IsNamed(c.TypeOf(lit), source.Tables, "SASSignatureValues") || c.HasLiteral(`"spk"`) { // the program adds the range
			return
		}
		for _, name := range rangeFields {
			if e := source.Field(lit, name); e != nil {
				if text, ok := c.ConstText(e); !ok || text != "" {
					c.report(e, message)
					return
				}
			}
		}
	})
}}

var rangeFields = []string{"StartPartitionKey", "StartRowKey", "EndPartitionKey", "EndRowKey"}
