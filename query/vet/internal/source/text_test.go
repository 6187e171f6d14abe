package source

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
)

// Each loop doubles the statements to follow, so that 40 of them would take for ever.
func TestAnEvaluationHasALimitOfSteps(t *testing.T) {
	const loops = 40
	text := "package x\nfunc f(x string) {\nvar s string\n" + strings.Repeat("for {\ns += x\n", loops) + strings.Repeat("}\n", loops) + "println(s)\n}\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	pkg, err := new(types.Config).Check("x", set, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	p := Read(&analysis.Pass{Fset: set, Files: []*ast.File{file}, Pkg: pkg, TypesInfo: info}, true)
	var use ast.Expr
	for call := range All[*ast.CallExpr](file) {
		use = call.Args[0]
	}
	ev := &evaluator{Package: p}
	if texts := ev.eval(use); only(texts).Hole == nil {
		t.Errorf("the value is %v, want one that is not known", texts)
	}
	if ev.steps <= maxSteps || ev.steps > maxSteps+10*loops {
		t.Errorf("the evaluation took %d steps, the limit is %d", ev.steps, maxSteps)
	}
}
