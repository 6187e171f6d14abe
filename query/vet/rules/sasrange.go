package rules

import (
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// sasRange reports signatures of the SDK that are limited to a range of keys: their address lacks the range.
var sasRange = &Rule{Name: "sasrange", Severity: Error, run: func(c *check) {
	const message = "the SDK signs this limit but leaves it out of the address, so the service refuses the signature; build the address by hand (azpatterns: package govern)"
	for _, set := range c.Set {
		if !source.IsNamed(c.TypeOf(set.Of), source.Tables, "SASSignatureValues") || c.HasLiteral(`"spk"`) { // the program adds the range
			continue
		}
		switch text, ok := c.ConstText(set.Value); set.Name {
		case "StartPartitionKey", "StartRowKey", "EndPartitionKey", "EndRowKey":
			if !ok || text != "" {
				c.report(set.Of, message)
			}
		}
	}
}}
