package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/azpatterns/azpatterns/query"
)

// A Filter is an expression whose value is sent as the filter of a query for entities, or as that for tables.
type Filter struct {
	Expr   ast.Expr
	Select bool // the expression is the list of properties to return
	Tables bool // the query is for tables, not entities
	Values []Value
}

// A Value is one of the texts that a filter can have. Like the package that contains it, it is not changed and may be used
// concurrently.
type Value struct {
	Text
	Slots []Slot // one for each part
	// Example is the text with a value of the right type in each hole. It is "" if a hole may be more than a value, such as
	// a whole condition.
	Example string
	Parsed  query.Filter
	Err     error // of query.Parse
}

// A Slot is the place of a part in a filter.
type Slot struct {
	Quoted  bool // the part begins in a quoted string
	Operand bool // the part follows a comparison operator, outside quotes
}

func (p *Package) readFilters(file *ast.File) {
	seen := map[ast.Expr]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if entities, tables := p.listOptions(p.TypeOf(n)); entities || tables {
				p.addFilter(Field(n, "Filter"), Filter{Tables: tables}, seen, 0)
				p.addFilter(Field(n, "Select"), Filter{Select: true}, seen, 0)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				sel, ok := left.(*ast.SelectorExpr)
				if !ok || len(n.Lhs) != len(n.Rhs) {
					continue
				}
				if entities, tables := p.listOptions(p.TypeOf(sel.X)); entities || tables {
					switch sel.Sel.Name {
					case "Filter":
						p.addFilter(n.Rhs[i], Filter{Tables: tables}, seen, 0)
					case "Select":
						p.addFilter(n.Rhs[i], Filter{Select: true}, seen, 0)
					}
				}
			}
		}
		return true
	})
}

func (p *Package) listOptions(t types.Type) (entities, tables bool) {
	return IsNamed(t, Tables, "ListEntitiesOptions"), IsNamed(t, Tables, "ListTablesOptions")
}

// addFilter adds the filter of an expression. If that is a parameter of the function, it adds the arguments of the
// function's callers instead.
func (p *Package) addFilter(e ast.Expr, f Filter, seen map[ast.Expr]bool, depth int) {
	if e == nil || seen[e] || p.IsNil(e) || depth > 3 {
		return
	}
	seen[e] = true
	f.Expr = e
	texts := p.Texts(e)
	if len(texts) == 1 && len(texts[0].Parts) == 1 && texts[0].Parts[0].Hole != nil {
		if fn, i := p.param(texts[0].Parts[0].Hole); fn != nil {
			for _, call := range p.callers[fn] {
				if i < len(call.Args) && len(call.Args) == fn.Signature().Params().Len() {
					p.addFilter(call.Args[i], f, seen, depth+1)
				}
			}
			return
		}
	}
	for _, t := range texts {
		f.Values = append(f.Values, p.value(t))
	}
	p.Filters = append(p.Filters, &f)
}

// param returns the function whose parameter e names, and the index of the parameter.
func (p *Package) param(e ast.Expr) (*types.Func, int) {
	obj := p.Object(Root(e))
	if obj == nil || p.defs[obj] == nil {
		return nil, 0
	}
	if _, ok := p.parents[p.defs[obj]].(*ast.Field); !ok {
		return nil, 0
	}
	decl := p.Decl(p.defs[obj])
	if decl == nil {
		return nil, 0
	}
	fn, ok := p.Pass.TypesInfo.Defs[decl.Name].(*types.Func)
	if !ok {
		return nil, 0
	}
	for i := range fn.Signature().Params().Len() {
		if fn.Signature().Params().At(i) == obj {
			return fn, i
		}
	}
	return nil, 0
}

// Arguments returns the expressions that the callers in the package pass for the parameter that e names. ok is false if e is
// no parameter, or if other packages can call the function.
func (p *Package) Arguments(e ast.Expr) (args []ast.Expr, ok bool) {
	if _, isIdent := ast.Unparen(e).(*ast.Ident); !isIdent {
		return nil, false
	}
	fn, i := p.param(e)
	if fn == nil || fn.Exported() {
		return nil, false
	}
	for _, call := range p.callers[fn] {
		if i >= len(call.Args) || call.Ellipsis.IsValid() || fn.Signature().Variadic() {
			return nil, false
		}
		args = append(args, call.Args[i])
	}
	return args, len(args) > 0
}

// value fills the holes of a text and parses it.
func (p *Package) value(t Text) Value {
	v := Value{Text: t, Slots: make([]Slot, len(t.Parts))}
	var b strings.Builder
	used := map[string]string{}
	complete := true
	for i, part := range t.Parts {
		before := b.String()
		quoted := strings.Count(before, "'")%2 == 1
		v.Slots[i] = Slot{Quoted: quoted, Operand: !quoted && endsInOperator(before)}
		if part.Hole == nil {
			b.WriteString(part.Text)
			continue
		}
		name := types.ExprString(part.Hole)
		if t.Open {
			name = fmt.Sprint(i) // the rounds of a loop have different values
		}
		if quoted {
			name = kindOf(before) + name
		}
		if _, ok := used[name]; !ok {
			next := ""
			if i+1 < len(t.Parts) {
				next = t.Parts[i+1].Text
			}
			used[name] = p.sample(part, before, next, quoted, len(used))
		}
		complete = complete && used[name] != ""
		b.WriteString(used[name])
	}
	if complete {
		v.Example = b.String()
		v.Parsed, v.Err = query.Parse(v.Example)
	}
	return v
}

func endsInOperator(text string) bool {
	fields := strings.Fields(text)
	if len(fields) < 2 || !strings.HasSuffix(text, " ") {
		return false
	}
	switch fields[len(fields)-1] {
	case "eq", "ne", "lt", "le", "gt", "ge":
		return true
	}
	return false
}

// kindOf returns the word before the quote that text ends in, such as "datetime".
func kindOf(text string) string {
	text = text[:max(strings.LastIndex(text, "'"), 0)]
	for _, kind := range []string{"datetime", "guid", "binary", "X"} {
		if strings.HasSuffix(strings.ToLower(text), strings.ToLower(kind)) {
			return kind
		}
	}
	return ""
}

// sample returns a value for a hole, or "" if the hole may be more than a value. Later holes have greater values.
func (p *Package) sample(part Part, before, next string, quoted bool, n int) string {
	if quoted {
		if !strings.HasSuffix(before, "'") || !strings.HasPrefix(next, "'") {
			return fmt.Sprintf("v%02d", n) // a part of a string
		}
		switch kindOf(before) {
		case "datetime":
			return fmt.Sprintf("2026-01-02T03:%02d:%02dZ", n/60%60, n%60)
		case "guid":
			return fmt.Sprintf("a455c695-df98-5678-aaaa-81d3367e5a%02d", n%100)
		case "binary", "X":
			return fmt.Sprintf("%02d", n%100)
		}
		return fmt.Sprintf("v%02d", n)
	}
	basic, ok := p.TypeOf(part.Hole).Underlying().(*types.Basic)
	switch {
	case !ok || part.Verb == 'q' || !endsInOperator(before):
		return ""
	case basic.Info()&types.IsBoolean != 0:
		return "true"
	case basic.Info()&types.IsInteger != 0 && part.Verb != 'f':
		return fmt.Sprint(n + 1)
	case basic.Info()&types.IsFloat != 0:
		return fmt.Sprintf("%d.5", n)
	}
	return ""
}

// Plan returns the plan of a filter on one line, without values.
func Plan(f query.Filter) string {
	lines := strings.Split(query.Explain(f).String(), "\n")
	kept := strings.Join(strings.Fields(lines[0]), " ")
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "->") {
			kept += " " + strings.Join(strings.Fields(line), " ")
		}
	}
	return kept
}

// Words returns the words of a filter or list of properties that are outside quotes, with the part that contains them.
func (v Value) Words() []Word {
	var words []Word
	quoted := false
	for i, part := range v.Parts {
		start := -1
		for j, r := range part.Text + " " {
			name := r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
			if name && !quoted {
				if start < 0 {
					start = j
				}
				continue
			}
			if start >= 0 {
				words = append(words, Word{Text: part.Text[start:j], Part: v.Parts[i]})
				start = -1
			}
			if r == '\'' {
				quoted = !quoted
			}
		}
	}
	return words
}

// A Word is a name in a filter.
type Word struct {
	Text string
	Part Part
}

// LiteralOf returns the string literal in e that contains text exactly once, and the position of text in it.
func LiteralOf(e ast.Expr, text string) (pos, end token.Pos, ok bool) {
	found := 0
	Inspect(e, func(n ast.Node) bool {
		if lit, isLit := n.(*ast.BasicLit); isLit && lit.Kind == token.STRING {
			if at := strings.Index(lit.Value, text); at >= 0 {
				found += strings.Count(lit.Value, text)
				pos = lit.Pos() + token.Pos(at)
				end = pos + token.Pos(len(text))
			}
		}
		return true
	})
	return pos, end, found == 1
}
