package rules

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// sysProps reports names of system properties in the wrong case. Names are case-sensitive, so the service knows no such
// property: a comparison of it never matches, and a selection of it returns nothing.
var sysProps = &Rule{Name: "sysprops", Severity: Error, Fixes: true, run: func(c *check) {
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for _, word := range v.Words() {
				for _, name := range []string{"PartitionKey", "RowKey", "Timestamp"} {
					if word.Text == name || !strings.EqualFold(word.Text, name) || c.ownProperty(word.Text) {
						continue
					}
					var fixes []analysis.SuggestedFix
					if pos, end, ok := source.LiteralOf(word.Part.From, word.Text); ok {
						fixes = append(fixes, replace("write "+name, pos, end, name))
					}
					problem := "no row matches a condition on it"
					if filter.Select {
						problem = "the rows are returned without it"
					}
					c.reportFilter(filter.Expr, v, word.Text+" is not the system property "+name+", because names are case-sensitive: "+problem, fixes...)
				}
			}
		}
	}
}}

// ownProperty reports whether a struct that the package uses has a property of its own with this name, or the package sets or
// reads one in a map.
func (c *check) ownProperty(name string) bool {
	for _, used := range c.pass.TypesInfo.Types {
		s, ok := used.Type.Underlying().(*types.Struct)
		for i := 0; ok && i < s.NumFields(); i++ {
			if s.Field(i).Exported() && propertyOf(s, i) == name {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Set, func(set source.Setting) bool { return set.Name == name }) ||
		source.AnyIn(c.Package, func(element *ast.IndexExpr) bool {
			text, ok := c.ConstText(element.Index)
			return ok && text == name
		})
}
