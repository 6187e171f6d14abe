package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// keyText reports keys whose text is not safe as a key: input of any form, numbers without padding, and local times.
var keyText = &Rule{Name: "keytext", Severity: Warning, Fixes: true, run: func(c *check) {
	for _, k := range c.keys() {
		for _, part := range c.parts(k.expr, 0) {
			c.keyPart(k, part)
		}
		if k.written && !c.isTest(k.expr) {
			c.madeKey(k, k.expr, 0)
		}
	}
}}

// keyPart checks a part of the text of a key.
func (c *check) keyPart(k keyValue, part source.Part) {
	now, name, utc := c.clock(part.Hole)
	isLocal := !utc && (name == "Now" || name == "Unix" || name == "UnixMilli" || name == "Local") && source.IsBasic(c.TypeOf(part.Hole), types.IsString)
	format, _ := c.Follow(part.Hole).(*ast.CallExpr)
	switch {
	case k.written && c.isInput(part.Hole, 0):
		c.report(k.expr, "input is used in a key without encoding: keys must not contain / \\ # ? and control characters, and are at most 512 characters long; encode it, for example with url.QueryEscape (azpatterns: keys.Escape)")
	case isLocal:
		c.report(now, "a key made of local time changes its order with the time zone; use UTC (azpatterns: keys.Ticks)", fix("use UTC", insert(now.End(), ".UTC()")))
	case k.written && strings.ContainsAny(part.Text, `/\#?`) || k.written && format != nil && strings.ContainsAny(c.layout(format), `/\#?`):
		c.report(k.expr, "the service refuses keys with / \\ # ?; use another separator, such as _ (azpatterns: keys.Join)")
	case format != nil && k.written && nameOfCall(format) == "Format" && strings.Contains(c.layout(format), ".999"):
		c.report(format, "this layout drops zeros at the end of the fraction, so keys are not in the order of time; write all digits, with .000000000 (azpatterns: keys.Ticks)")
	case k.written && !k.partition && c.momentOnly(k.expr, part):
		c.report(k.expr, "two rows of the same moment get the same key, and the second overwrites the first or is refused; add something that differs, such as an id (azpatterns: package logtail)")
	case k.written && !k.partition && c.unpadded(part):
		c.report(part.Hole, "keys are compared as text, so rows with this number are not in numeric order (10 is before 9); pad it with zeros (azpatterns: keys.Digits)")
	}
}

// madeKey checks the calls that a key is made by, in the function and in those that it calls.
func (c *check) madeKey(k keyValue, e ast.Expr, depth int) {
	for call := range source.All[*ast.CallExpr](c.Follow(e)) {
		path, name := c.Callee(call)
		of, _ := source.Selected(call.Fun)
		switch _, decl := c.DeclOf(call); {
		case path == "encoding/base64" && name == "Encoding.EncodeToString" && strings.HasSuffix(exprName(of), "StdEncoding"):
			c.report(call, "base64 contains / and +, and the service refuses keys with a slash; use base64.URLEncoding (azpatterns: keys.Escape)")
		case path == "strconv" && name == "FormatFloat" && !k.partition:
			c.report(call, "keys are compared as text, so rows with this number are not in numeric order; store a whole number, padded with zeros (azpatterns: keys.Digits)")
		case decl != nil && decl.Body != nil && depth < 2:
			for _, ret := range c.returns(decl.Body) {
				c.madeKey(k, ret.Results[0], depth+1)
			}
		}
	}
}

// momentOnly reports whether a key is nothing but the current time, in seconds or milliseconds.
func (c *check) momentOnly(key ast.Expr, part source.Part) bool {
	if texts := c.Texts(key); len(texts) != 1 || len(texts[0].Parts) != 1 {
		return false
	}
	unix, _ := c.Follow(part.Hole).(*ast.CallExpr)
	name := ""
	if unix != nil {
		_, name = c.Callee(unix)
	}
	coarse := name == "Time.Unix" || name == "Time.UnixMilli" || name == "Time.Format" && strings.Contains(c.layout(unix), "05") && !strings.Contains(c.layout(unix), "000000")
	of, _ := source.Selected(unixFun(unix))
	times := []ast.Expr{of}
	if fn, i := c.Param(of); fn != nil && of != nil {
		times = c.Passed(fn, i)
	}
	return coarse && slices.ContainsFunc(times, func(e ast.Expr) bool {
		_, now, _ := c.clock(e)
		return now == "Now"
	})
}

// unixFun returns what a call, which may be nil, calls.
func unixFun(call *ast.CallExpr) ast.Expr {
	if call == nil {
		return ast.NewIdent("_")
	}
	return call.Fun
}

// layout returns the constant layout of a call of Time.Format.
func (c *check) layout(format *ast.CallExpr) string {
	text := ""
	if path, _ := c.Callee(format); path == "time" && len(format.Args) == 1 {
		text, _ = c.ConstText(format.Args[0])
	}
	return text
}

// address matches the names of variables that contain the address of a page or the path of a file.
var address = regexp.MustCompile(`(?i)^(link|ur[il]|href|(file)?path)$`)

// isInput reports whether a value comes from a request, from the command line or from a path.
func (c *check) isInput(e ast.Expr, depth int) bool {
	if depth > 3 {
		return false
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		value := c.Follow(e)
		return value != ast.Expr(e) && c.isInput(value, depth+1) || address.MatchString(e.Name) && source.IsBasic(c.TypeOf(e), types.IsString)
	case *ast.SelectorExpr:
		return source.IsNamed(c.TypeOf(e.X), "net/url", "URL") && (e.Sel.Name == "Path" || e.Sel.Name == "RawQuery")
	case *ast.IndexExpr:
		return types.ExprString(e.X) == "os.Args" || source.IsNamed(c.TypeOf(e.X), "net/url", "Values") || c.isInput(e.X, depth+1)
	case *ast.CallExpr:
		path, name := c.Callee(e)
		if path == "strings" && strings.HasPrefix(name, "T") && len(e.Args) > 0 { // Trim and ToLower keep the characters
			return c.isInput(e.Args[0], depth+1)
		}
		switch path + "." + name {
		case "net/http.Request.FormValue", "net/http.Request.PostFormValue", "net/http.Request.PathValue", "net/http.Request.UserAgent", "net/http.Request.Referer",
			"net/http.Header.Get", "net/url.Values.Get", "net/url.URL.String", "path/filepath.Base", "path/filepath.Join", "bufio.Scanner.Text", "flag.Arg":
			return true
		}
	}
	return false
}

// clock returns the call of package time that a time, or a text or number made of it, comes from, and the name of the
// function, such as Now. utc reports whether the time was converted to UTC.
func (c *check) clock(e ast.Expr) (call *ast.CallExpr, name string, utc bool) {
	for range 8 {
		call, ok := c.Follow(e).(*ast.CallExpr)
		if !ok {
			break
		}
		path, name := c.Callee(call)
		field := strings.ToLower(nameOfCall(call))
		switch {
		case c.pass.TypesInfo.Types[call.Fun].IsType() && len(call.Args) == 1:
			e = call.Args[0]
		case path == "" && source.IsNamed(c.TypeOf(call), "time", "Time") && (strings.HasSuffix(field, "now") || field == "clock"):
			return call, "Now", true // a field for tests; whether its time is local is not known
		case path == "time" && name == "Time.Local":
			return call, "Local", utc
		case path != "time":
			return nil, "", false
		case strings.HasPrefix(name, "Time."):
			e, _ = source.Selected(call.Fun)
			utc = utc || name == "Time.UTC" || name == "Time.In"
		default:
			return call, name, utc
		}
	}
	return nil, "", false
}

// unpadded reports whether a part is a number of varying length.
func (c *check) unpadded(part source.Part) bool {
	t := c.TypeOf(part.Hole)
	return (part.Verb == 'd' || part.Verb == 'v') && source.IsBasic(t, types.IsInteger) && !hasMarshaler(t) && !c.fixedWidth(part.Hole)
}

// fixedWidth reports whether a number always has as many digits: a counter below 10, and for centuries a Unix time or its
// distance from a maximum.
func (c *check) fixedWidth(e ast.Expr) bool {
	return c.counts(e) || source.Any(c.Follow(e), func(id *ast.Ident) bool {
		return strings.HasPrefix(id.Name, "Unix") || strings.Contains(id.Name, "Max") || strings.Contains(strings.ToLower(id.Name), "ticks")
	})
}

// counts reports whether e is the counter of a loop of at most 10 rounds.
func (c *check) counts(e ast.Expr) bool {
	for loop := c.Loop(e); loop != nil; loop = c.Loop(loop) {
		if counter := c.counter(loop); counter != nil && counter == c.Object(e) {
			rounds := c.rounds(loop)
			return 0 < rounds && rounds <= 10
		}
	}
	return false
}

// hotKey reports partition keys that begin with the current time or a counter: all writes of a moment go to one partition
// server.
var hotKey = &Rule{Name: "hotkey", Severity: Warning, run: func(c *check) {
	for _, k := range c.keys() {
		if !k.partition || !k.written {
			continue
		}
		for _, t := range c.Texts(k.expr) {
			i := slices.IndexFunc(t.Parts, func(p source.Part) bool { return p.Hole != nil }) // a constant before it spreads nothing
			if i < 0 {
				continue
			}
			first := t.Parts[i].Hole
			_, name, _ := c.clock(first)
			format, isCall := c.Follow(first).(*ast.CallExpr)
			switch {
			case isCall && len(t.Parts) == 1 && name == "" && strings.Contains(c.layout(format), "15"):
				c.report(first, "a partition key that is an hour or a shorter time sends all writes of that time to one partition server; begin with a value that spreads them, such as a hash or the name of the source (azpatterns: keys.NewSpread)")
			case name == "Now":
				c.report(first, "a partition key that begins with the current time sends all writes of a moment to one partition server; begin with a value that spreads them, such as a hash or the name of the source (azpatterns: keys.NewSpread)")
			case c.isCounter(first):
				c.report(first, "a partition key that begins with a counter sends all new rows to one partition server; begin with a value that spreads them, such as a hash (azpatterns: keys.NewSpread)")
			}
		}
	}
}}

// isCounter reports whether e is the text of a number that the program counts up: the result of atomic.Add, or a field or
// global variable with ++.
func (c *check) isCounter(e ast.Expr) bool {
	e = c.Follow(e)
	if call, ok := e.(*ast.CallExpr); ok {
		path, name := c.Callee(call)
		return path == "sync/atomic" && strings.Contains(name, "Add")
	}
	if v, ok := c.Object(e).(*types.Var); ok && v.Parent() != c.pass.Pkg.Scope() {
		return false
	}
	return source.IsBasic(c.TypeOf(e), types.IsInteger) &&
		source.AnyIn(c.Package, func(s *ast.IncDecStmt) bool { return s.Tok == token.INC && c.Same(s.X, e) })
}

// marshalled returns the values that are encoded by encoding/json and written as entities, by the function itself or by one
// of the package that it calls.
func (c *check) marshalled() (values []ast.Expr) {
	var entities []ast.Expr
	for call := range c.CallsOf(source.Tables, "AddEntity", "UpdateEntity", "UpsertEntity") {
		entities = append(entities, call.Arg(1))
	}
	for _, set := range c.Set {
		if set.Name == "Entity" && source.IsNamed(c.TypeOf(set.Of), source.Tables, "TransactionAction") {
			entities = append(entities, set.Value)
		}
	}
	for _, entity := range entities {
		call, _ := c.Follow(entity).(*ast.CallExpr)
		for value := range c.encoded(call) {
			if fn, i := c.Param(value); fn != nil && types.IsInterface(c.TypeOf(value)) {
				values = append(values, c.Passed(fn, i)...)
			} else {
				values = append(values, value)
			}
		}
	}
	return values
}

// encoded returns what a call, which may be nil, encodes by encoding/json, perhaps in a function of the package.
func (c *check) encoded(call *ast.CallExpr) iter.Seq[ast.Expr] {
	return func(yield func(ast.Expr) bool) {
		if call == nil {
			return
		}
		calls := []*ast.CallExpr{call}
		if _, decl := c.DeclOf(call); decl != nil {
			calls = slices.Collect(source.All[*ast.CallExpr](decl.Body))
		}
		for _, call := range calls {
			if path, name := c.Callee(call); path == "encoding/json" && strings.HasPrefix(name, "Marshal") && len(call.Args) > 0 && !yield(ast.Unparen(call.Args[0])) {
				return
			}
		}
	}
}

// A keyValue is an expression for a key of an entity.
type keyValue struct {
	expr      ast.Expr
	partition bool
	written   bool // the entity is built with it; else it is read or deleted
}

// keys returns the keys of entities that are built, read or deleted.
func (c *check) keys() (all []keyValue) {
	for _, set := range c.Set {
		if name := c.property(set); name == "PartitionKey" || name == "RowKey" {
			all = append(all, keyValue{set.Value, name == "PartitionKey", true})
		}
	}
	for call := range c.CallsOf(source.Tables, "GetEntity", "DeleteEntity") {
		if len(call.Args) == 4 {
			all = append(all, keyValue{call.Args[1], true, false}, keyValue{call.Args[2], false, false})
		}
	}
	return all
}

// property returns the name of the property of an entity that is set, or "". Of a map it returns only keys, and a map in a
// literal is an entity if it has both.
func (c *check) property(set source.Setting) string {
	t := c.TypeOf(set.Of)
	if s := structOf(t); s != nil && isEntity(s) {
		if !c.stored(t, s) {
			return ""
		}
		for i := range s.NumFields() {
			if s.Field(i).Name() == set.Name {
				return propertyOf(s, i)
			}
		}
		return set.Name // of the embedded aztables.Entity
	}
	lit, isLiteral := set.Of.(*ast.CompositeLit)
	_, isMap := t.Underlying().(*types.Map)
	isKey := set.Name == "PartitionKey" || set.Name == "RowKey"
	if !isMap || !isKey || isLiteral && (c.Field(lit, "PartitionKey") == nil || c.Field(lit, "RowKey") == nil) {
		return ""
	}
	return set.Name
}

// stored reports whether values of a struct with both keys are entities: it is, or embeds, the type of aztables, or the package
// encodes a value of it and writes the result to a table. Other structs with such fields are references to rows, or options.
func (c *check) stored(t types.Type, s *types.Struct) bool {
	isEntityType := func(t types.Type) bool {
		return source.IsNamed(t, source.Tables, "Entity") || source.IsNamed(t, source.Tables, "EDMEntity")
	}
	if isEntityType(t) {
		return true
	}
	for field := range s.Fields() {
		if field.Embedded() && isEntityType(field.Type()) {
			return true
		}
	}
	return slices.ContainsFunc(c.marshalled(), func(value ast.Expr) bool { return structOf(c.TypeOf(value)) == s })
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	s, _ := t.Underlying().(*types.Struct)
	return s
}
