package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// maxBatch is the number of operations that the service accepts in one transaction.
const maxBatch = 100

// batch reports transactions that the service rejects: of more than 100 operations, of any number of operations, or of
// several partitions.
var batch = &Rule{Name: "batch", Severity: Error, run: func(c *check) {
	atomic(c)
	separate(c)
	codeOfBatch(c)
	emptyRest(c)
	sameRow(c)
	for call := range c.CallsOf(source.Tables, "SubmitTransaction") {
		actions := call.Arg(1)
		if at := c.otherPartition(c.Literal(actions)); at != nil {
			c.report(at, "this row is of another partition than the first one, and the service rejects a transaction of several partitions; use one partition, or write the other row through an outbox (azpatterns: Store with an Inter view)")
		}
		if lit := c.Literal(actions); lit != nil && len(lit.Elts) > maxBatch {
			c.report(actions, fmt.Sprintf("the transaction has %d operations, and the service rejects more than %d (azpatterns: Table.Bulk divides writes)", len(lit.Elts), maxBatch))
			continue
		}
		id, ok := actions.(*ast.Ident)
		if part, isRange := c.Parent(c.Definition(c.Object(actions))).(*ast.RangeStmt); ok && isRange { // for part := range slices.Chunk(actions, 100)
			if chunks, isCall := part.X.(*ast.CallExpr); isCall && len(chunks.Args) == 2 {
				if id, ok = chunks.Args[0].(*ast.Ident); ok && c.spans(c.appended(call, id)) {
					c.report(actions, "the partition key changes with each round of the loop that makes these operations, and the service rejects a transaction of several partitions; write one transaction for each partition (azpatterns: Table.Bulk)")
				}
				continue
			}
		}
		if !ok {
			continue
		}
		loop, n := c.appendLoop(call, id)
		switch {
		case n > maxBatch:
			c.report(actions, fmt.Sprintf("the loop adds %d operations to the transaction, and the service rejects more than %d (azpatterns: Table.Bulk divides writes)", n, maxBatch))
		case loop != nil && c.spans(loop):
			c.report(actions, "the partition key changes with each round of the loop, and the service rejects a transaction of several partitions; write one transaction for each partition (azpatterns: Table.Bulk)")
		case loop != nil && n < 0 && !c.limits(id, loop):
			c.report(actions, fmt.Sprintf("the loop adds operations without a limit, and the service rejects a transaction of more than %d; submit them in parts (azpatterns: Table.Bulk divides writes)", maxBatch))
		}
	}
}}

// otherPartition returns the first element of a literal of actions whose partition key is another variable than that of the first.
func (c *check) otherPartition(actions *ast.CompositeLit) ast.Node {
	var first ast.Expr
	if actions == nil {
		return nil
	}
	for _, e := range actions.Elts {
		body := c.Field(c.Literal(e), "Entity")
		lit, call := c.entity(body)
		key := c.argument(c.Field(lit, "PartitionKey"), call)
		if body == nil || lit == nil {
			key = c.partitionOf(e)
		}
		switch {
		case key == nil:
			return nil
		case first == nil:
			first = key
		case !c.Same(first, key) && (c.Const(first) != nil) == (c.Const(key) != nil) && exprName(first) != exprName(key):
			return e
		}
	}
	return nil
}

// partitionOf returns what an action's function is passed for the partition key, or nil.
func (c *check) partitionOf(action ast.Expr) ast.Expr {
	s, ok := c.Parent(c.Definition(c.Object(action))).(*ast.AssignStmt)
	if !ok || len(s.Rhs) != 1 {
		return nil
	}
	call, _ := s.Rhs[0].(*ast.CallExpr)
	_, decl := c.DeclOf(call)
	for _, k := range c.keys() {
		if fn, _ := c.Param(k.expr); k.partition && k.written && fn != nil && decl != nil && c.Decl(k.expr) == decl {
			return c.argument(k.expr, call)
		}
	}
	return nil
}

// emptyRest reports transactions of what is left over after a loop, which can be nothing.
func emptyRest(c *check) {
	for call := range c.CallsOf(source.Tables, "SubmitTransaction") {
		actions, decl := c.Object(call.Arg(1)), c.Decl(call)
		if actions == nil || decl == nil || c.isTest(call) {
			continue
		}
		empty := func(n ast.Node) bool { // a test whether there are any
			return source.Any(n, func(b *ast.BinaryExpr) bool {
				n, ok := c.ConstInt(b.Y)
				return ok && n <= 1 && c.Object(c.lenOf(b.X)) == actions
			})
		}
		fn := ast.Node(nil)
		if lit := source.Around[*ast.FuncLit](c.Package, call); lit != nil {
			if s, ok := c.Parent(lit).(*ast.AssignStmt); ok {
				fn = s.Lhs[0]
			}
		}
		inLoop := false
		for submit := range source.All[*ast.CallExpr](decl.Body) {
			name, _ := fn.(ast.Expr)
			if submit != call.CallExpr && (name == nil || c.Object(submit.Fun) != c.Object(name)) {
				continue
			}
			full := false
			for n := range c.Ancestors(submit) {
				branch, ok := n.(*ast.IfStmt)
				full = full || ok && source.Any(branch.Cond, func(e ast.Expr) bool { return c.lenOf(e) != nil && c.Object(c.lenOf(e)) == actions })
			}
			if c.Loop(submit) != nil && full {
				inLoop = true
			} else if inLoop && c.Loop(submit) == nil && !empty(decl.Body) {
				c.report(submit, "if nothing is left over, this transaction is empty, and the SDK refuses it; submit it only if there are operations (azpatterns: Table.Bulk)")
			}
		}
	}
}

// sameRow reports rows with constant keys that each round of a loop adds to one transaction.
func sameRow(c *check) {
	for call := range c.CallsOf(source.Tables, "SubmitTransaction") {
		id, ok := call.Arg(1).(*ast.Ident)
		var loop ast.Stmt
		if ok {
			loop, _ = c.appendLoop(call, id)
		}
		over, isRange := loop.(*ast.RangeStmt)
		if !isRange || c.isTest(call) || source.Any(over.Body, c.writesRow) { // such a row may be written alone
			continue
		}
		element := c.Derived(over.Body, c.Object(over.Key), c.Object(over.Value))
		for _, row := range c.Set {
			lit, isLit := row.Of.(*ast.CompositeLit)
			if _, constant := c.ConstText(row.Value); isLit && constant && c.property(row) == "RowKey" && source.Within(over.Body, lit) && source.Around[*ast.IfStmt](c.Package, lit) == source.Around[*ast.IfStmt](c.Package, over) && source.Around[*ast.FuncLit](c.Package, lit) == source.Around[*ast.FuncLit](c.Package, over) && !c.MentionsAny(c.Field(lit, "PartitionKey"), element) {
				c.report(row.Value, "each round of the loop adds this row to the transaction, and the service rejects one with the same row twice; add it once, after the loop (azpatterns: Batch)")
			}
		}
	}
}

// appended returns the loop that appends to actions, or nil.
func (c *check) appended(call *source.Call, actions *ast.Ident) ast.Stmt {
	loop, _ := c.appendLoop(call, actions)
	return loop
}

// appendLoop returns the loop that appends to the actions of a transaction which is submitted after the loop, and the
// number of its rounds: -1 if that is not known. The loop is nil if there is none.
func (c *check) appendLoop(call *source.Call, actions *ast.Ident) (loop ast.Stmt, rounds int64) {
	body, _ := c.Body(call)
	obj := c.Object(actions)
	for a := range source.All[*ast.CallExpr](body) {
		if len(a.Args) < 2 || a.Ellipsis.IsValid() || !c.IsBuiltin(a, "append") || obj == nil || c.Object(a.Args[0]) != obj {
			continue
		}
		l := c.Loop(a)
		if l == nil || source.Within(l, call) || l.Pos() > call.Pos() {
			continue
		}
		if outer := c.Loop(l); outer == nil || source.Within(outer, call) {
			return l, c.rounds(l)
		}
	}
	return nil, 0
}

// rounds returns the constant number of rounds of a loop, 0 if it is bounded in a way that is not counted here, and -1 if
// nothing bounds it.
func (c *check) rounds(loop ast.Stmt) int64 {
	switch l := loop.(type) {
	case *ast.ForStmt:
		if b, ok := l.Cond.(*ast.BinaryExpr); ok {
			return c.count(b.Y)
		}
		if l.Cond == nil {
			return -1
		}
	case *ast.RangeStmt:
		return c.count(l.X)
	}
	return 0
}

// count returns the number e, or the number of its elements: -1 for a parameter of an exported function and for the rows of a
// page, which can be any number, and 0 if it is not known.
func (c *check) count(e ast.Expr) int64 {
	if x := c.lenOf(e); x != nil {
		e = x
	}
	if n, ok := c.ConstInt(e); ok {
		return max(n, 0)
	}
	if array, ok := c.TypeOf(e).Underlying().(*types.Array); ok {
		return array.Len()
	}
	if lit := c.Literal(e); lit != nil {
		return int64(len(lit.Elts))
	}
	page, name := source.Selected(e)
	fn, _ := c.Param(e)
	isParam := fn != nil && fn.Exported() && c.Object(e) != nil && !source.IsBasic(c.TypeOf(e), types.IsInteger)
	if isParam || name == "Entities" && source.IsNamed(c.TypeOf(page), source.Tables, "ListEntitiesResponse") {
		return -1
	}
	return 0
}

// limits reports whether the function compares the number of actions, or has a number that may be the limit.
func (c *check) limits(actions *ast.Ident, loop ast.Stmt) bool {
	body, _ := c.Body(loop)
	obj := c.Object(actions)
	over, isRange := loop.(*ast.RangeStmt)
	return c.hasLimit(loop, maxBatch+1) || source.Any(body, func(b *ast.BinaryExpr) bool {
		return c.Const(b.Y) == nil && source.Any(b, func(e ast.Expr) bool {
			x := c.lenOf(e)
			return x != nil && (c.Object(x) == obj || isRange && c.Same(x, over.X))
		})
	})
}

// spans reports whether the loop builds entities whose partition key is made of the counter of the loop, or is a field of its element other
// than one with the name of the key.
func (c *check) spans(loop ast.Stmt) bool {
	counter := c.counter(loop)
	of, isRange := loop.(*ast.RangeStmt)
	return loop != nil && slices.ContainsFunc(c.keys(), func(k keyValue) bool {
		if !k.partition || !k.written {
			return false
		}
		if source.Within(loop, k.expr) && counter != nil && c.Mentions(k.expr, counter) && !c.repeats(k.expr) {
			return true
		}
		x, name := source.Selected(k.expr)
		fn, i := c.Param(k.expr)
		return isRange && x != nil && c.Object(of.Value) != nil && !strings.Contains(strings.ToLower(name), "part") && name != "PK" && fn != nil &&
			source.Any(loop, func(call *ast.CallExpr) bool {
				called, _ := c.DeclOf(call)
				return called == fn && i < len(call.Args) && c.Object(call.Args[i]) == c.Object(of.Value)
			})
	})
}

// atomic reports rows of one partition that are added one after the other.
func atomic(c *check) {
	writes := c.writes()
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpsertEntity") {
		first := c.another(call, false, "AddEntity", "UpsertEntity")
		if first == nil || c.Loop(call) != nil || c.Loop(first) != nil || c.isTest(call) || !c.sameField(first.Recv, call.Recv) || c.leavesAfter(first, call) {
			continue
		}
		var keys [2]ast.Expr
		for _, w := range writes {
			for i, of := range []*source.Call{first, call} {
				if w.call == of {
					keys[i] = w.partition
				}
			}
		}
		def := func(call *source.Call) ast.Node { return c.Parent(c.Definition(c.Object(call.Arg(1)))) }
		together := def(first) != nil && def(first) == def(call) && c.Object(first.Arg(1)) != c.Object(call.Arg(1))
		if _, isAssign := def(first).(*ast.AssignStmt); together && isAssign || keys[0] != nil && c.Const(keys[0]) == nil && c.Same(keys[0], keys[1]) {
			c.report(call, "if this fails, the row that was written before remains without this one; write both in one transaction, if they are of one partition (azpatterns: Store with an Intra view, or Batch)")
		}
	}
}

// separate reports rows of one partition that a function of the package adds, in two calls one after the other.
func separate(c *check) {
	var last *ast.CallExpr
	var key ast.Expr
	for _, call := range c.AllCalls() {
		if f := c.FactOf(call); c.CallOf(call) != nil || !f.Writes || !f.Rows || f.Reads || f.Removes || c.Loop(call) != nil || c.isTest(call) || c.Decl(call) == nil {
			continue
		}
		var partition ast.Expr
		for _, arg := range call.Args {
			if lit := c.Literal(arg); lit != nil && c.Field(lit, "RowKey") != nil {
				partition = c.Field(lit, "PartitionKey")
			}
		}
		if last != nil && c.Decl(last) == c.Decl(call) && exprName(last.Fun) == exprName(call.Fun) && partition != nil && c.Const(partition) == nil && c.Same(key, partition) && !c.leavesAfter(last, call) {
			c.report(call, "if this fails, the row that was written before remains without this one; write both in one transaction (azpatterns: Store with an Intra view, or Batch)")
		}
		last, key = call, partition
	}
}

// codeOfBatch reports tests of the code of the error of a transaction.
func codeOfBatch(c *check) {
	const message = "the error of a failed transaction has the status 202 and no code, so this finds nothing; read the code from the body of its RawResponse (azpatterns: errors.Is with patterns.ErrExists, and BatchError has the index)"
	tests := func(n ast.Node) ast.Node {
		for sel := range source.All[*ast.SelectorExpr](n) {
			b, compares := c.Parent(sel).(*ast.BinaryExpr)
			if !compares || !strings.HasSuffix(c.TypeOf(sel.X).String(), ".ResponseError") {
				continue
			}
			if status, _ := c.ConstInt(b.Y); sel.Sel.Name == "ErrorCode" || sel.Sel.Name == "StatusCode" && (status == 404 || status == 409 || status == 412) {
				return sel
			}
		}
		return nil
	}
	for call := range c.CallsOf(source.Tables, "SubmitTransaction") {
		_, err, stmt := c.Results(call.CallExpr)
		if err == nil || c.isTest(call) || c.uses(c.Decl(call), "RawResponse", "Payload") {
			continue
		}
		for _, s := range c.after(stmt) {
			for n := range source.All[*ast.IfStmt](s) {
				at := ast.Node(nil)
				if found := tests(n.Cond); found != nil && c.Mentions(s, err) {
					at = found
				}
				for helper := range source.All[*ast.CallExpr](n.Cond) {
					if _, decl := c.DeclOf(helper); decl != nil && c.Mentions(helper, err) && !c.uses(decl, "RawResponse") {
						if found := tests(decl.Body); found != nil {
							at = helper
						}
					}
				}
				if at != nil {
					c.report(at, message)
				}
			}
		}
	}
}

// counter returns the variable that counts the rounds of a loop, or nil.
func (c *check) counter(loop ast.Stmt) types.Object {
	switch l := loop.(type) {
	case *ast.ForStmt:
		if a, ok := l.Init.(*ast.AssignStmt); ok && len(a.Lhs) == 1 {
			return c.Object(a.Lhs[0])
		}
	case *ast.RangeStmt:
		if _, isMap := c.TypeOf(l.X).Underlying().(*types.Map); !isMap {
			return c.Object(l.Key)
		}
	}
	return nil
}

// repeats reports whether a key made of a counter can be the same in several rounds, as i/100 and names[i] can.
func (c *check) repeats(key ast.Expr) bool {
	return source.Any(key, func(*ast.IndexExpr) bool { return true }) ||
		source.Any(key, func(b *ast.BinaryExpr) bool { return c.TypeOf(b).Underlying() != types.Typ[types.String] })
}

// oneByOne reports rows that are read or written one after the other.
var oneByOne = &Rule{Name: "onebyone", Severity: Warning, Off: true, run: func(c *check) {
	for _, call := range c.AllCalls() {
		over, body := c.over(c.Loop(call), call)
		_, scans := over.(*ast.CallExpr)
		single := c.IsCall(call, "AppendBlock") && scans || c.IsCall(call, "GetProperties") && c.CallOf(call).Path == source.Blobs
		if over == nil || !c.FactOf(call).Rows && !single || c.Conditional(call) || c.returnsMore(call) || c.isTest(call) || !source.Within(body, call) || c.Literal(over) != nil || source.Terminates(body.List) || !c.first(body) {
			continue
		}
		if single {
			c.report(call, "this is a request for each element; append several together, up to 4 MiB a block, and list blobs with the metadata that are needed")
		} else if c.FactOf(call).Reads {
			c.report(call, "the rows are read one after the other, a request each; read them concurrently, or with one query for a range of keys (azpatterns: Table.Query sends the reads of a filter concurrently)")
		} else {
			c.report(call, "the rows are written one after the other, a request each; write those of a partition with SubmitTransaction, up to 100 at a time (azpatterns: Table.Bulk)")
		}
	}
}}

// returnsMore reports whether a function of the program that writes returns more than an error, so that each row has an outcome.
func (c *check) returnsMore(call *ast.CallExpr) bool {
	_, isTuple := c.TypeOf(call).(*types.Tuple)
	return isTuple && c.CallOf(call) == nil && !c.FactOf(call).Reads
}

// over returns what a loop with a call goes through, and the body of the loop: the slice, map or channel that it ranges over, or whose
// length it counts to, a scanner, or the variable that the call depends on.
func (c *check) over(loop ast.Stmt, call *ast.CallExpr) (ast.Expr, *ast.BlockStmt) {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		if !source.IsBasic(c.TypeOf(loop.X), types.IsInteger) {
			return loop.X, loop.Body
		}
	case *ast.ForStmt:
		switch cond := loop.Cond.(type) {
		case *ast.BinaryExpr:
			return c.lenOf(cond.Y), loop.Body
		case *ast.CallExpr:
			if counter := c.counter(loop); nameOfCall(cond) == "Scan" || counter != nil && c.MentionsAny(call, c.Derived(loop.Body, counter)) {
				return cond, loop.Body
			}
		}
	}
	return nil, nil
}

// oneVariable reports rows that are decoded into a variable which keeps the properties of the row before.
var oneVariable = &Rule{Name: "onevariable", Severity: Error, Fixes: true, run: func(c *check) {
	for loop := range nodes(c, func(*ast.RangeStmt) bool { return true }) {
		_, rows := source.Selected(loop.X)
		for call := range source.All[*ast.CallExpr](loop.Body) {
			path, name := c.Callee(call)
			if rows != "Entities" || path != "encoding/json" || name != "Unmarshal" || !c.Mentions(call.Args[0], c.Object(loop.Value)) {
				continue
			}
			target := source.Root(call.Args[1])
			v := c.Object(target)
			if def := c.Definition(v); def == nil || source.Within(loop.Body, def) || source.Any(loop.Body, func(s *ast.AssignStmt) bool { return c.Sets(s, v) }) {
				continue
			}
			var fixes []analysis.SuggestedFix
			if list, i := c.Statement(call); i >= 0 && types.Identical(c.TypeOf(target).Underlying(), structOf(c.TypeOf(target))) {
				_, typeName := source.NameOf(c.TypeOf(target))
				if c.lookup(typeName, call.Pos()) != nil {
					fixes = append(fixes, fix("begin with an empty value", insert(list[i].Pos(), v.Name()+" = "+typeName+"{}\n")))
				}
			}
			c.report(call, "each row is decoded into the same variable, which keeps the properties that a row lacks from the row before; declare the variable in the loop (azpatterns: Table.Query decodes each row into a new value)", fixes...)
		}
	}
}}
