package rules

import (
	"go/ast"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// sasRange reports signatures of the SDK that are limited to a range of keys: their address lacks the range.
var sasRange = &Rule{Name: "sasrange", Severity: Error, run: func(c *check) {
	const message = "the SDK signs this limit but leaves it out of the address, so the service refuses the signature; build the address by hand (azpatterns: package govern)"
	for lit := range inspector.All[*ast.CompositeLit](c.Files) {
		if !source.IsNamed(c.TypeOf(lit), source.Tables, "SASSignatureValues") || c.HasLiteral(`"spk"`) { // the program adds the range
			continue
		}
		for _, name := range []string{"StartPartitionKey", "StartRowKey", "EndPartitionKey", "EndRowKey"} {
			if e := c.Field(lit, name); e != nil {
				if text, ok := c.ConstText(e); !ok || text != "" {
					c.report(e, message)
					break
				}
			}
		}
	}
}}
