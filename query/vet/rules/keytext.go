package rules

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// keyText reports keys whose text is not safe as a key: input of any form, numbers without padding, and local times.
var keyText = &Rule{Name: "keytext", Severity: Warning, Fixes: true, run: func(c *check) {
	c.keys(func(k keyValue) {
		for _, t := range c.Texts(k.expr) {
			for _, part := range t.Parts {
				if part.Hole == nil || !part.Hole.Pos().IsValid() {
					continue
				}
				switch now := c.localTime(part.Hole, 0); {
				case c.isInput(part.Hole, 0):
					c.report(k.expr, "input is used in a key without encoding: keys must not contain / \\ # ? and control characters, and are at most 512 characters long (azpatterns: keys.Escape)")
				case now != nil:
					c.report(now, "a key made of local time changes its order with the time zone; use UTC (azpatterns: keys.Ticks)", fix("use UTC", insert(now.End(), ".UTC()")))
				case k.written && !k.partition && c.unpadded(part):
					c.report(part.Hole, "keys are compared as text, so rows with this number are not in numeric order (10 is before 9); pad it with zeros (azpatterns: keys.Digits)")
				}
			}
		}
	})
}}

// isInput reports whether a value comes from a request, from the command line or from a path.
func (c *check) isInput(e ast.Expr, depth int) bool {
	if e == nil || depth > 3 {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if value := c.Value(e); value != nil {
			return c.isInput(value, depth+1)
		}
	case *ast.SelectorExpr:
		return source.IsNamed(c.TypeOf(e.X), "net/url", "URL") && (e.Sel.Name == "Path" || e.Sel.Name == "RawQuery")
	case *ast.IndexExpr:
		sel, ok := ast.Unparen(e.X).(*ast.SelectorExpr)
		return ok && types.ExprString(sel) == "os.Args"
	case *ast.CallExpr:
		path, name := c.Callee(e)
		switch path + "." + name {
		case "net/http.Request.FormValue", "net/http.Request.PostFormValue", "net/http.Request.PathValue", "net/http.Request.UserAgent", "net/http.Request.Referer",
			"net/http.Header.Get", "net/url.Values.Get", "net/url.URL.String", "path/filepath.Base", "path/filepath.Join", "bufio.Scanner.Text", "flag.Arg":
			return true
		}
	}
	return false
}

// localTime returns the call of time.Now or time.Unix from which a text is made without UTC, or nil.
func (c *check) localTime(e ast.Expr, depth int) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if path, name := c.Callee(call); path != "time" || name != "Time.Format" && name != "Time.String" {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	x := ast.Unparen(sel.X)
	if id, ok := x.(*ast.Ident); ok {
		x = c.Value(id)
	}
	for range 5 {
		inner, ok := x.(*ast.CallExpr)
		if !ok {
			return nil
		}
		switch path, name := c.Callee(inner); path + "." + name {
		case "time.Now", "time.Unix", "time.UnixMilli":
			return inner
		case "time.Time.Add", "time.Time.AddDate", "time.Time.Truncate", "time.Time.Local":
			chain, ok := ast.Unparen(inner.Fun).(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			x = ast.Unparen(chain.X)
		default:
			return nil
		}
	}
	return nil
}

// unpadded reports whether a part is a number of varying length.
func (c *check) unpadded(part source.Part) bool {
	e := part.Hole
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && part.Verb == 0 {
		path, name := c.Callee(call)
		if path != "strconv" || name != "Itoa" && name != "FormatInt" && name != "FormatUint" {
			return false
		}
		e = call.Args[0]
	} else if part.Verb != 'd' && part.Verb != 'v' {
		return false
	}
	basic, ok := c.TypeOf(e).Underlying().(*types.Basic)
	if !ok || basic.Info()&types.IsInteger == 0 || hasMarshaler(c.TypeOf(e)) {
		return false
	}
	return c.Const(e) == nil && !c.fixedWidth(e)
}

// fixedWidth reports whether a number always has as many digits: a counter below 10, and for centuries a Unix time or its
// distance from a maximum.
func (c *check) fixedWidth(e ast.Expr) bool {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if c.counts(id) {
			return true
		}
		if value := c.Value(id); value != nil {
			e = value
		}
	}
	return source.Any(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		return ok && (strings.HasPrefix(id.Name, "Unix") || strings.Contains(id.Name, "Max") || strings.Contains(strings.ToLower(id.Name), "ticks"))
	})
}

// counts reports whether id is the counter of a loop that ends before 10.
func (c *check) counts(id *ast.Ident) bool {
	for n := range c.Ancestors(id) {
		end, most := ast.Expr(nil), int64(10)
		switch n := n.(type) {
		case *ast.RangeStmt:
			if c.Object(n.Key) == c.Object(id) {
				end = n.X
			}
		case *ast.ForStmt:
			if b, ok := n.Cond.(*ast.BinaryExpr); ok && (b.Op == token.LSS || b.Op == token.LEQ) && c.Object(b.X) == c.Object(id) {
				end = b.Y
				if b.Op == token.LEQ {
					most = 9
				}
			}
		}
		if v := c.Const(end); v != nil && v.Kind() == constant.Int && constant.Compare(v, token.LEQ, constant.MakeInt64(most)) {
			return true
		}
	}
	return false
}
