package rules

import (
	"go/ast"
	"go/types"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// edmField reports fields of the EDM types of aztables in a plain struct. Only aztables.EDMEntity writes their annotations.
var edmField = &Rule{Name: "edmfield", Severity: Error, run: func(c *check) {
	c.marshalled(func(value ast.Expr) {
		t := c.TypeOf(value)
		if pointer, ok := t.Underlying().(*types.Pointer); ok {
			t = pointer.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok || hasMarshaler(t) || source.IsNamed(t, source.Tables, "EDMEntity") {
			return
		}
		c.fields(value, s, func(f *types.Var, name string, at ast.Node) {
			if edm := edmType(f.Type()); edm != "" {
				c.report(at, "in a plain struct "+name+" is written without its type, so it is stored as a String, not as an "+edm+
					"; add a field with the tag `json:\""+name+"@odata.type\"`, or use aztables.EDMEntity (azpatterns: patterns.Table writes the type)")
			}
		})
	})
}}
