package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
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

func (p *Package) readFilters() {
	seen := map[ast.Expr]bool{}
	for _, set := range p.Set {
		options := p.TypeOf(set.Of)
		tables := IsNamed(options, Tables, "ListTablesOptions")
		if !tables && !IsNamed(options, Tables, "ListEntitiesOptions") {
			continue
		}
		switch set.Name {
		case "Filter":
			p.addFilter(set.Value, Filter{Tables: tables}, seen, 0)
		case "Select":
			p.addFilter(set.Value, Filter{Select: true}, seen, 0)
		}
	}
}

// addFilter adds the filter of an expression. If that is a parameter of the function, it adds the arguments of the
// function's callers instead.
func (p *Package) addFilter(e ast.Expr, f Filter, seen map[ast.Expr]bool, depth int) {
	if seen[e] || p.IsNil(e) || depth > 3 {
		return
	}
	seen[e] = true
	f.Expr = e
	texts := p.Texts(e)
	if fn, i := p.Param(only(texts).Hole); fn != nil {
		for _, arg := range p.Passed(fn, i) {
			p.addFilter(arg, f, seen, depth+1)
		}
		return
	}
	for _, t := range texts {
		f.Values = append(f.Values, p.value(t))
	}
	p.Filters = append(p.Filters, &f)
}

// Param returns the function whose parameter e, or the root of e, names, and the index of the parameter.
func (p *Package) Param(e ast.Expr) (*types.Func, int) {
	obj := p.Object(Root(e))
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

// Passed returns the expressions that the callers in the package pass for the parameter of fn with the index i. A call that
// has not one argument for each parameter is left out.
func (p *Package) Passed(fn *types.Func, i int) (args []ast.Expr) {
	for _, call := range p.callers[fn] {
		if len(call.Args) == fn.Signature().Params().Len() {
			args = append(args, call.Args[i])
		}
	}
	return args
}

// Arguments returns the expressions that the callers in the package pass for the parameter that e names. ok is false if e is
// no parameter, or if there can be other arguments.
func (p *Package) Arguments(e *ast.Ident) (args []ast.Expr, ok bool) {
	fn, i := p.Param(e)
	if fn == nil || fn.Exported() || fn.Signature().Variadic() {
		return nil, false
	}
	args = p.Passed(fn, i)
	return args, len(args) > 0 && len(args) == len(p.callers[fn])
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
	operators := []string{"eq", "ne", "lt", "le", "gt", "ge"}
	return strings.HasSuffix(text, " ") && len(fields) > 1 && slices.Contains(operators, fields[len(fields)-1])
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
	t := p.TypeOf(part.Hole)
	switch {
	case !endsInOperator(before):
		return ""
	case part.Verb == 'q':
		return fmt.Sprintf(`"v%02d"`, n)
	case IsBasic(t, types.IsBoolean):
		return "true"
	case IsBasic(t, types.IsInteger) && part.Verb != 'f':
		return fmt.Sprint(n + 1)
	case IsBasic(t, types.IsFloat):
		return fmt.Sprintf("%d.5", n)
	}
	return ""
}

// Plan returns the plan of the filter on one line, without values, or "" if the filter cannot be parsed.
func (v Value) Plan() string {
	if v.Example == "" || v.Err != nil {
		return ""
	}
	plan, _, _ := strings.Cut(query.Explain(v.Parsed).String(), "\n  Warning ")
	return strings.Join(strings.Fields(plan), " ")
}

// quotedOrName matches a quoted string, which may lack its end, or a name.
var quotedOrName = regexp.MustCompile(`'[^']*(?:'|$)|[\w.]+`)

// Words returns the words of a filter or list of properties that are outside quotes, with the part that contains them.
func (v Value) Words() []Word {
	var words []Word
	for i, part := range v.Parts {
		text := part.Text
		if v.Slots[i].Quoted {
			_, text, _ = strings.Cut(text, "'")
		}
		for _, found := range quotedOrName.FindAllString(text, -1) {
			if found[0] != '\'' {
				words = append(words, Word{found, part})
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
	for lit := range All[*ast.BasicLit](e) {
		if at := strings.Index(lit.Value, text); at >= 0 && lit.Kind == token.STRING {
			found += strings.Count(lit.Value, text)
			pos = lit.Pos() + token.Pos(at)
			end = pos + token.Pos(len(text))
		}
	}
	return pos, end, found == 1
}
