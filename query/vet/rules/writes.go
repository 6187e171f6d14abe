package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// partial reports changes that remove more than the program names, or less.
var partial = &Rule{Name: "partial", Severity: Error, run: every(
	each(source.Queues, "UpdateMessage", "this replaces the text of the message with an empty one, so the next worker that receives it has nothing; pass the text of the message", func(c *check, call *source.Call) bool {
		text, ok := c.ConstText(call.Arg(3))
		return ok && text == "" && c.hides(c.Field(c.Literal(call.Arg(4)), "VisibilityTimeout"))
	}),
	each(source.Blobs, "SetMetadata", "this replaces all metadata of the blob, so what others have set is lost; change a copy of the metadata that were read", func(c *check, call *source.Call) bool {
		copies := source.Any(c.Decl(call), func(n ast.Node) bool {
			loop, isLoop := n.(*ast.RangeStmt)
			copied, isCall := n.(*ast.CallExpr)
			return isLoop && c.uses(loop.X, "etadata") || isCall && strings.HasPrefix(calleePath(c, copied), "maps") && len(copied.Args) > 0 && c.uses(copied.Args[len(copied.Args)-1], "etadata")
		})
		return c.another(call, false, "GetProperties") != nil && c.Literal(call.Arg(1)) != nil && !copies
	}),
	each(source.Blobs, "SetHTTPHeaders", "this sets all headers of the blob, so the content type and others are cleared; change what blob.ParseHTTPHeaders returns", func(c *check, call *source.Call) bool {
		lit := c.Literal(call.Arg(1))
		n := 0
		for _, set := range c.Set {
			if set.Of == ast.Expr(lit) || c.Object(set.Of) != nil && c.Same(set.Of, call.Arg(1)) {
				n++
			}
		}
		return lit != nil && n > 0 && n < 3 && c.Field(lit, "BlobContentType") == nil && !c.setsField(call.Arg(1), "BlobContentType")
	}),
	replaced, merged, unselected,
)}

// hides reports whether a message is hidden for some time, or for one that is not known, so that the change only makes time for the work.
func (c *check) hides(e ast.Expr) bool {
	n, ok := c.number(e)
	return e != nil && (!ok || n > 0)
}

func calleePath(c *check, call *ast.CallExpr) string {
	path, _ := c.Callee(call)
	return path
}

// setsField reports whether an assignment sets a field of a variable.
func (c *check) setsField(of ast.Expr, name string) bool {
	return slices.ContainsFunc(c.Set, func(set source.Setting) bool {
		return set.Name == name && c.Object(set.Of) != nil && c.Same(set.Of, of)
	})
}

// modes returns the expressions that choose how an entity is written, in a function.
func (c *check) modes(decl *ast.FuncDecl, replaces bool) (all []*ast.SelectorExpr) {
	names := []string{"UpdateModeMerge", "TransactionTypeUpdateMerge", "TransactionTypeInsertMerge"}
	if replaces {
		names = []string{"UpdateModeReplace", "TransactionTypeUpdateReplace", "TransactionTypeInsertReplace"}
	}
	for sel := range source.All[*ast.SelectorExpr](decl) {
		if slices.Contains(names, sel.Sel.Name) {
			all = append(all, sel)
		}
	}
	return all
}

// replaced reports rows that are replaced by some of their properties: those of a projection, or others than those with which the
// package creates the row.
func replaced(c *check) {
	for _, set := range c.Set {
		path, name := source.NameOf(c.TypeOf(set.Of))
		if decl := c.Decl(set.At); decl != nil && set.Name == "Select" && path == source.Tables && name == "ListEntitiesOptions" {
			for _, mode := range c.modes(decl, true) {
				if mode.Sel.Name != "TransactionTypeInsertReplace" && mode.Pos() > set.At.Pos() {
					c.report(mode, "the row is read without the properties that Select leaves out, and replacing it deletes them; merge the change (azpatterns: Table.Merge)")
				}
			}
		}
	}
	writes := c.writes()
	for _, w := range writes {
		for _, o := range writes {
			replaces := w.call.Name == "UpsertEntity" && len(c.modes(c.Decl(w.call), true)) == 1
			if replaces && o.call != w.call && c.sameField(w.call.Recv, o.call.Recv) && len(w.names) > 0 && len(o.names) > 0 &&
				exprName(w.row) == exprName(o.row) && exprName(w.row) != "" && !slices.ContainsFunc(w.names, func(name string) bool { return slices.Contains(o.names, name) }) {
				c.report(w.call, "this replaces the row, which removes "+strings.Join(o.names, ", ")+"; merge the change (azpatterns: Table.Merge)")
			}
		}
	}
}

// unselected reports fields of rows that a function uses although its query does not select them.
func unselected(c *check) {
	for _, set := range c.Set {
		path, name := source.NameOf(c.TypeOf(set.Of))
		text, ok := c.ConstText(c.Resolve(set.Value))
		decl := c.Decl(set.At)
		if !ok || text == "" || decl == nil || set.Name != "Select" || path != source.Tables || name != "ListEntitiesOptions" || c.isTest(set.At) {
			continue
		}
		selected := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		for call := range source.All[*ast.CallExpr](decl.Body) {
			if path, name := c.Callee(call); path != "encoding/json" || name != "Unmarshal" || len(call.Args) != 2 || call.Pos() < set.At.Pos() {
				continue
			}
			row := c.Object(source.Root(call.Args[1]))
			s := structOf(c.TypeOf(call.Args[1]))
			for sel := range source.All[*ast.SelectorExpr](decl.Body) {
				if assign, isSet := c.Parent(sel).(*ast.AssignStmt); row == nil || s == nil || c.Object(sel.X) != row || isSet && slices.Contains(assign.Lhs, ast.Expr(sel)) {
					continue
				}
				for i := range s.NumFields() {
					if property := propertyOf(s, i); s.Field(i).Name() == sel.Sel.Name && !s.Field(i).Embedded() && isStored(property) && !slices.Contains(selected, property) && c.first(set.At) {
						c.report(set.Value, property+" is used and not selected, so it is empty in each row; select it (azpatterns: package query)")
					}
				}
			}
		}
	}
}

// sameField reports whether two expressions are the same variable, or the same field of values of one type.
func (c *check) sameField(a, b ast.Expr) bool {
	x, name := source.Selected(a)
	y, other := source.Selected(b)
	return c.Same(a, b) || x != nil && y != nil && name == other && types.Identical(c.TypeOf(x), c.TypeOf(y))
}

// A write is that of an entity whose properties are in the call's function.
type write struct {
	call           *source.Call
	partition, row ast.Expr
	names          []string // of the other properties, without annotations
}

// writes returns the writes of entities that are literals.
func (c *check) writes() (all []write) {
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity") {
		lit, encoding := c.entity(call.Arg(1))
		if lit == nil {
			continue
		}
		w := write{call: call}
		for _, set := range c.Settings(lit) {
			switch {
			case set.Name == "PartitionKey":
				w.partition = c.argument(set.Value, encoding)
			case set.Name == "RowKey":
				w.row = c.argument(set.Value, encoding)
			case !strings.Contains(set.Name, "@"):
				w.names = append(w.names, set.Name)
			}
		}
		all = append(all, w)
	}
	return all
}

// entity returns the literal that encoded text is made of, in the same function or in one that it calls, or nil.
func (c *check) entity(body ast.Expr) (lit *ast.CompositeLit, call *ast.CallExpr) {
	call, _ = c.Follow(body).(*ast.CallExpr)
	for value := range c.encoded(call) {
		lit = c.Literal(value)
	}
	return lit, call
}

// argument returns the expression that a call passes for e, if that is a parameter of the function, and else e.
func (c *check) argument(e ast.Expr, call *ast.CallExpr) ast.Expr {
	fn, i := c.Param(e)
	if called, _ := c.DeclOf(call); fn != nil && fn == called && i < len(call.Args) && c.Object(e) != nil {
		return call.Args[i]
	}
	return e
}

// omits reports whether a field is set to the zero value with which encoding/json leaves it out.
func (c *check) omits(set source.Setting) bool {
	s, v := structOf(c.TypeOf(set.Of)), c.Const(set.Value)
	if s == nil || v == nil || !slices.Contains([]string{"0", "false", `""`}, v.String()) {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() == set.Name {
			return isStored(propertyOf(s, i)) && strings.Contains(s.Tag(i), ",omitempty")
		}
	}
	return false
}

// merged reports properties that a merge is expected to remove.
func merged(c *check) {
	const message = "a merge keeps the properties that the entity lacks or has as null, so nothing is removed; replace the row (azpatterns: Table.Replace)"
	for _, call := range c.AllCalls() {
		decl := c.Decl(call)
		if decl == nil || !c.IsCall(call, "UpdateEntity", "UpsertEntity", "SubmitTransaction") {
			continue
		}
		modes := c.modes(decl, false)
		deleted := source.Any(decl, func(call *ast.CallExpr) bool {
			if !c.IsBuiltin(call, "delete") || len(call.Args) != 2 {
				return false
			}
			name, ok := c.ConstText(call.Args[1])
			return ok && isStored(name) && c.replies(decl)[c.Object(source.Root(call.Args[0]))]
		})
		for _, set := range c.Set {
			m, isMap := c.TypeOf(set.Of).Underlying().(*types.Map)
			deleted = deleted || isMap && isStored(set.Name) && types.IsInterface(m.Elem()) && c.IsNil(set.Value) && c.Decl(set.At) == decl
			_, assigns := set.At.(*ast.AssignStmt)
			deleted = deleted || assigns && c.Decl(set.At) == decl && c.omits(set) && c.replies(decl)[c.Object(source.Root(set.Of))]
			deleted = deleted || assigns && c.IsNil(set.Value) && c.Decl(set.At) == decl && structOf(c.TypeOf(set.Of)) != nil && isEntity(structOf(c.TypeOf(set.Of))) && c.replies(decl)[c.Object(source.Root(set.Of))]
		}
		if deleted && len(modes) > 0 && len(c.modes(decl, true)) == 0 {
			c.report(modes[0], message)
		}
	}
}

// repeats reports attempts that write a second time what an attempt before has written, and attempts without end.
var repeats = &Rule{Name: "repeats", Severity: Error, run: every(newKeys,
	each(source.Blobs, "AppendBlock", "an attempt whose reply is lost has appended the block, and the next one appends it again; set AppendPosition", func(c *check, call *source.Call) bool {
		return c.attempt(call) != nil && c.open(call.Arg(2), "AppendPosition")
	}),
	func(c *check) {
		for _, call := range c.AllCalls() {
			loop, ok := c.Loop(call).(*ast.ForStmt)
			if !ok || loop.Cond != nil || c.isTest(call) || !c.FactOf(call).Writes || c.FactOf(call).Deletes || !c.testsError(loop) {
				continue
			}
			counts := source.Any(loop, func(b *ast.BinaryExpr) bool {
				return b.Op == token.GTR || b.Op == token.GEQ || b.Op == token.LSS || b.Op == token.LEQ
			})
			_, err, stmt := c.Results(call)
			ends := err == nil || source.Any(loop, func(ret *ast.ReturnStmt) bool { return ret.Pos() > stmt.Pos() && c.Mentions(ret, err) })
			known := c.uses(loop, "ResponseError", "HasCode", "StatusCode", "ErrorCode", "Retry", "Transient", "Temporary")
			if counts && !known && c.pauses(loop.Body, 0) && c.CallOf(call) != nil {
				c.report(call, "a request that the service refuses is repeated too, and the SDK has repeated the others already; repeat only after errors that pass, such as 429 and 5xx (azpatterns: errors.Is with patterns.ErrThrottled)")
			}
			if !counts && !ends && !known {
				c.report(call, "a request that the service refuses is repeated for ever; repeat only after errors that pass, such as 429 and 5xx, and return the others (azpatterns: the SDK has done that already)")
			}
		}
	},
)}

// testsError reports whether a loop is left if an error is nil.
func (c *check) testsError(loop ast.Stmt) bool {
	return source.Any(loop, func(s *ast.IfStmt) bool {
		b, ok := s.Cond.(*ast.BinaryExpr)
		return ok && b.Op == token.EQL && c.IsNil(b.Y) && source.IsError(c.TypeOf(b.X)) && source.Terminates(s.Body.List)
	})
}

// newKeys reports keys that are new in each attempt: in a loop that repeats a write, and in the work with a message.
func newKeys(c *check) {
	for _, k := range c.keys() {
		decl := c.Decl(k.expr)
		if k.partition || !k.written || decl == nil || c.isTest(k.expr) || !c.isNew(k.expr) {
			continue
		}
		again := c.attempt(k.expr)
		if again != nil && source.Within(again, c.Follow(k.expr)) && c.writesIn(again) {
			c.report(k.expr, "each attempt writes a row with another key, so an attempt whose reply was lost leaves a second row; choose the key before the loop, and take a conflict for success")
		} else if slices.ContainsFunc(append(c.callersOf(decl), decl), func(caller *ast.FuncDecl) bool {
			return (c.handlesMessage(caller) || caller != decl && c.uses(caller, "DequeueMessage") && c.uses(caller, "DeleteMessage")) && c.writesIn(caller)
		}) {
			c.report(k.expr, "a message can arrive twice, and each time this writes another row; make the key of what the message contains (azpatterns: eventual.NewWorker)")
		}
	}
}

// callersOf returns the functions of the package that call a function.
func (c *check) callersOf(decl *ast.FuncDecl) (all []*ast.FuncDecl) {
	for _, call := range c.CallersOf(decl) {
		if caller := c.Decl(call); caller != nil {
			all = append(all, caller)
		}
	}
	return all
}

// isNew reports whether a key is made of random numbers or the time, and of nothing else.
func (c *check) isNew(key ast.Expr) bool {
	isNew := false
	for _, part := range c.parts(key, 4) {
		if part.Hole == nil {
			continue
		}
		call, _ := c.Follow(part.Hole).(*ast.CallExpr)
		if call != nil && nameOfCall(call) == "String" && len(call.Args) == 0 {
			of, _ := source.Selected(call.Fun)
			if made, ok := c.Follow(of).(*ast.CallExpr); ok {
				call = made
			}
		}
		_, name, _ := c.clock(part.Hole)
		random := call != nil && c.imports(call, "rand", "uuid", "/xid", "/ulid", "ksuid")
		if call != nil {
			_, decl := c.DeclOf(call)
			random = random || decl != nil && len(call.Args) == 0 && c.imports(decl, "rand", "uuid", "/xid", "/ulid", "ksuid")
		}
		if isNew = random || name == "Now"; !isNew {
			return false
		}
	}
	return isNew
}

// writesIn reports whether n writes rows.
func (c *check) writesIn(n ast.Node) bool {
	return source.Any(n, func(call *ast.CallExpr) bool { return c.FactOf(call).Writes && !c.FactOf(call).Deletes })
}

// handlesMessage reports whether a function has a message as a parameter.
func (c *check) handlesMessage(decl *ast.FuncDecl) bool {
	for v := range c.signature(decl).Params().Variables() {
		if path, name := source.NameOf(v.Type()); source.IsSDK(path) && strings.Contains(name, "DequeuedMessage") {
			return true
		}
	}
	return false
}
