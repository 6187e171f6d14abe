package rules

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query"
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// tableScan reports filters for which the service reads the whole table.
var tableScan = &Rule{Name: "tablescan", Severity: Warning, run: func(c *check) {
next:
	for e, plans := range c.plans() {
		for _, p := range plans {
			if p.Plain != query.TableScan || everyRow(p.Plan) || p.warns(query.WarnOrOfPartitionKeys, query.WarnOrOfRowKeys) {
				continue next // one of the texts that the filter can have is fine
			}
		}
		c.reportFilter(e, plans[0].value, "the service reads the whole table for this filter; select a partition with PartitionKey eq, or keep an index (azpatterns: secondaryindex.Inter)")
	}
	for call := range c.CallsOf(source.Tables, "NewListEntitiesPager") {
		options := c.Literal(call.Arg(0))
		decl := c.Decl(call)
		if decl == nil || c.isTest(call) || !c.IsNil(call.Arg(0)) && (options == nil || c.Field(options, "Filter") != nil || c.setsFilter(decl)) {
			continue
		}
		if !everything.MatchString(decl.Name.Name) || c.picks(call, "") != nil {
			c.report(call, "the whole table is read, because the query has no filter; select a partition with PartitionKey eq, or keep an index (azpatterns: secondaryindex.Inter)")
		}
	}
}}

// everyRow reports whether the filter has no condition but those that every row meets, such as PartitionKey ge ”.
func everyRow(p query.Plan) bool { return len(p.Reads()) == 1 && p.Reads()[0].Filter.IsZero() }

// orOfKeys reports filters that join keys by or: the service scans for them instead of reading the named rows.
var orOfKeys = &Rule{Name: "orofkeys", Severity: Warning, run: func(c *check) {
	for e, plans := range c.plans() {
		for _, p := range plans {
			if p.Plain > p.Class && p.warns(query.WarnOrOfRowKeys, query.WarnOrOfPartitionKeys) {
				c.reportFilter(e, p.value, "keys joined by or are read as a "+p.Plain.String()+"; send one request for each read of the plan (azpatterns: Table.Query sends them)")
			}
		}
	}
}}

// comparisons reports filters with more comparisons than the service accepts, and those to which a loop adds comparisons.
var comparisons = &Rule{Name: "comparisons", Severity: Error, run: func(c *check) {
	for e, plans := range c.plans() {
		for _, p := range plans {
			n := p.value.Parsed.Comparisons()
			if n > query.MaxComparisons {
				c.reportFilter(e, p.value, fmt.Sprintf("the filter has %d comparisons, and the service rejects more than %d; divide it (azpatterns: Table.Query divides filters)", n, query.MaxComparisons))
			}
			if p.value.Open && n > 1 && !c.hasLimit(e, query.MaxComparisons) {
				c.reportFilter(e, p.value, fmt.Sprintf("a loop adds comparisons to the filter without a limit, and the service rejects more than %d; send a query for each %d values (azpatterns: Property.In)", query.MaxComparisons, query.MaxComparisons-1))
			}
		}
	}
}}

// badFilter reports filters that the service rejects.
var badFilter = &Rule{Name: "badfilter", Severity: Error, run: every(twice, func(c *check) {
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			var syntax *query.SyntaxError
			if !filter.Select && !filter.Tables && !v.Open && len(filter.Values) == 1 && errors.As(v.Err, &syntax) {
				c.report(filter.Expr, "the service rejects this filter: "+syntax.Error()+" (azpatterns: package query writes filters)")
			}
		}
	}
})}

// twice reports keys and filters that the program escapes although the SDK does.
func twice(c *check) {
	escapes := func(e ast.Expr, path, name string) *ast.CallExpr {
		call, _ := c.Follow(e).(*ast.CallExpr)
		if _, decl := c.DeclOf(call); decl != nil && decl.Body != nil && len(c.returns(decl.Body)) == 1 {
			call, _ = c.Follow(c.returns(decl.Body)[0].Results[0]).(*ast.CallExpr)
		}
		if call == nil {
			return nil
		}
		if gotPath, gotName := c.Callee(call); gotPath != path || gotName != name {
			return nil
		}
		return call
	}
	for call := range c.CallsOf(source.Tables, "GetEntity", "DeleteEntity") {
		for i := 1; i < 3; i++ {
			if doubled := escapes(call.Arg(i), "strings", "ReplaceAll"); doubled != nil && len(doubled.Args) == 3 && !c.isTest(call) {
				if of, ok := c.ConstText(doubled.Args[1]); ok && of == "'" {
					c.report(call.Arg(i), "the SDK doubles the quotes of a key itself, so this reads another row; pass the key as it is (azpatterns: Table.Get)")
				}
			}
		}
	}
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for i, part := range v.Parts {
				id, ok := part.Hole.(*ast.Ident)
				if !ok || i == 0 || !strings.HasSuffix(v.Parts[i-1].Text, " and ") {
					continue
				}
				args, _ := c.Arguments(id)
				if fn, n := c.Param(id); fn != nil {
					args = c.Passed(fn, n)
				}
				for _, arg := range args {
					if text, _ := c.ConstText(arg); strings.Contains(text, " or ") && !strings.HasPrefix(text, "(") {
						c.report(arg, "and binds tighter than or, so what follows or is searched without the condition before it; put this condition into parentheses (azpatterns: query.And and query.Or)")
					}
				}
			}
			if len(v.Parts) == 1 && (escapes(v.Parts[0].Hole, "net/url", "QueryEscape") != nil || escapes(v.Parts[0].Hole, "net/url", "PathEscape") != nil) {
				c.report(v.Parts[0].Hole, "the SDK escapes the filter itself, so the service gets one that is escaped twice, and rejects it; pass the filter as it is (azpatterns: package query writes filters)")
			}
		}
	}
}

// A plan is that of one text of a filter.
type plan struct {
	query.Plan
	value source.Value
}

// plans returns the plans of each filter of entities whose texts can all be parsed.
func (c *check) plans() iter.Seq2[ast.Expr, []plan] {
	return func(yield func(ast.Expr, []plan) bool) {
		for _, filter := range c.Filters {
			var plans []plan
			known := 0 // without the rounds of a loop in an order that cannot happen
			for _, v := range filter.Values {
				if v.Err == nil || !v.Open {
					known++
				}
				if v.Example != "" && v.Err == nil {
					plans = append(plans, plan{query.Explain(v.Parsed), v})
				}
			}
			ofEntities := !filter.Select && !filter.Tables
			if ofEntities && len(plans) > 0 && len(plans) == known && !yield(filter.Expr, plans) {
				return
			}
		}
	}
}

// warns reports whether the plan has a warning with one of the codes.
func (p plan) warns(codes ...query.WarningCode) bool {
	return slices.ContainsFunc(p.Warnings, func(w query.Warning) bool { return slices.Contains(codes, w.Code) })
}

// reportFilter reports a mistake at n, which is a filter or a part of it, with the plan of the filter if it has one.
func (c *check) reportFilter(n ast.Node, v source.Value, message string, fixes ...analysis.SuggestedFix) {
	if plan := v.Plan(); plan != "" {
		message += "; plan: " + plan
	}
	c.report(n, message, fixes...)
}

// firstPage reports queries of which only the first page is read.
var firstPage = &Rule{Name: "firstpage", Severity: Error, run: func(c *check) {
	ofPage := func(name string) (found ast.Node) {
		for sel := range nodes(c, func(sel *ast.SelectorExpr) bool {
			return sel.Sel.Name == name && source.IsNamed(c.TypeOf(sel.X), source.Tables, "ListEntitiesResponse") && !c.isTest(sel)
		}) {
			found = sel
		}
		return found
	}
	if row := ofPage("NextRowKey"); row != nil && ofPage("NextPartitionKey") == nil {
		c.report(row, "a continuation token has two keys, and with this one only the next request does not go on where this page ends; keep NextPartitionKey, too (azpatterns: Table.Page)")
	}
	for _, p := range c.nextPages() {
		created, ok := c.Follow(p.pager).(*ast.CallExpr)
		if ok && p.page != nil && c.onlyOnce(p, created) && !c.keeps(p) && !c.needsOnePage(created) {
			c.report(p.call, "only the first page is read, which can be short or empty although more rows match; read pages while More reports true (azpatterns: Table.Query)")
		}
	}
	for _, set := range c.Set {
		lit, ok := set.Of.(*ast.CompositeLit)
		if ok && set.Name == "NextPartitionKey" && source.IsNamed(c.TypeOf(lit), source.Tables, "ListEntitiesOptions") && c.Field(lit, "NextRowKey") == nil && !slices.ContainsFunc(c.Set, func(s source.Setting) bool {
			return s.Name == "NextRowKey" && c.Decl(s.At) == c.Decl(lit) && source.IsNamed(c.TypeOf(s.Of), source.Tables, "ListEntitiesOptions")
		}) {
			c.report(set.At, "without NextRowKey each page begins at the start of the partition again; pass both parts of the continuation token (azpatterns: Table.Page)")
		}
	}
}}

// onlyOnce reports whether one call of NextPage in one round is all that happens to the pager.
func (c *check) onlyOnce(p nextPage, created *ast.CallExpr) bool {
	if p.pager == ast.Expr(created) {
		return true
	}
	outer := c.Loop(created)
	if f, ok := outer.(*ast.ForStmt); ok && f.Init != nil && source.Within(f.Init, created) {
		outer = c.Loop(f) // for pager := …; pager.More(); { … }
	}
	if body, _ := c.Body(created); body != p.body || outer != c.Loop(p.call) && !c.leavesAlways(c.Loop(p.call)) {
		return false
	}
	calls := 0
	other := source.Any(p.body, func(id *ast.Ident) bool {
		if c.pass.TypesInfo.Uses[id] != c.Object(p.pager) {
			return false
		}
		sel, ok := c.Parent(id).(*ast.SelectorExpr)
		if ok && sel.Sel.Name == "NextPage" {
			calls++
		}
		return !ok
	})
	return !other && calls == 1
}

// leavesAlways reports whether a loop ends in its first round.
func (c *check) leavesAlways(loop ast.Stmt) bool {
	f, ok := loop.(*ast.ForStmt)
	if !ok || !source.Terminates(f.Body.List) {
		return false
	}
	return !source.Any(f.Body, func(b *ast.BranchStmt) bool {
		return b.Tok == token.CONTINUE && (b.Label != nil || c.leaves(b) == f) || b.Tok == token.GOTO
	})
}

// keeps reports whether the function hands on the page as a whole, or its continuation token.
func (c *check) keeps(p nextPage) bool {
	return source.Any(p.body, func(id *ast.Ident) bool {
		switch id.Name {
		case "NextPartitionKey", "NextRowKey", "NextTableName", "NextMarker":
			return true
		}
		if c.pass.TypesInfo.Uses[id] != p.page {
			return false
		}
		sel, ok := c.Parent(id).(*ast.SelectorExpr)
		return !ok || sel.X != ast.Expr(id)
	})
}

// needsOnePage reports whether the query of a pager returns one row at most, or is a look at the first rows of a table.
func (c *check) needsOnePage(created *ast.CallExpr) bool {
	if len(created.Args) == 0 {
		return false
	}
	options := created.Args[len(created.Args)-1]
	lit := c.Literal(options)
	filter, most := c.Field(lit, "Filter"), c.Field(lit, "MaxResults")
	n, known := c.number(most)
	if filter == nil {
		return lit == nil && !c.IsNil(options) || c.Field(lit, "Top") != nil || most != nil && (!known || n < 1000)
	}
	filters := []ast.Expr{filter}
	if fn, i := c.Param(filter); fn != nil {
		if filters = c.Passed(fn, i); len(filters) == 0 {
			return true // the callers decide
		}
	}
	return !slices.ContainsFunc(c.Filters, func(f *source.Filter) bool {
		return slices.Contains(filters, f.Expr) && (len(f.Values) == 0 || slices.ContainsFunc(f.Values, func(v source.Value) bool {
			return v.Example == "" || v.Err != nil || query.Explain(v.Parsed).Plain != query.Point
		}))
	})
}
