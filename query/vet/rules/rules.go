// Package rules contains the rules of the command vet. Each rule is an analyzer that reports one mistake in hand-written
// aztables or azqueue code.
package rules

import (
	"embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// A Severity is how much harm a mistake can do.
type Severity string

const (
	Security Severity = "security" // input can change what a request does
	Error    Severity = "error"    // wrong results, lost changes, or requests that fail
	Warning  Severity = "warning"  // slow, expensive, or wrong under conditions that the code does not show
)

// A Rule finds one kind of mistake. It is immutable and safe for concurrent use.
type Rule struct {
	Name     string
	Severity Severity
	Fixes    bool // whether the rule suggests fixes
	Off      bool // whether the rule runs only if it is named
	run      func(*check)
}

// All returns the rules, those of filters first.
func All() []*Rule {
	return []*Rule{
		tableScan, orOfKeys, comparisons, literalType, injection, sysProps, badFilter,
		emptyPage, pageError, firstPage,
		lostUpdate, etagAny,
		untyped, edmField, keyText, hotKey,
		batch, retried, clientPerCall, createPerCall, deleteFirst,
		oneKey, openRange, watermark, accountKey, keyMix, quotedKey,
		dropped, anyError, errorText, oneByOne, oneVariable, polling, poison, visibility,
		access, limits, partial, checkFirst, stale, moved, rowFirst, parallel, background, repeats, transfer, wholeRead, body,
	}
}

// Named returns the rule with this name, or nil.
func Named(name string) *Rule {
	for _, r := range All() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Analyzers returns one analyzer for each rule, in the order of All.
func Analyzers() (all []*analysis.Analyzer) {
	for _, r := range All() {
		all = append(all, r.Analyzer())
	}
	return all
}

// Analyzer returns the rule as an analyzer.
func (r *Rule) Analyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name:     r.Name,
		Doc:      r.Page(),
		URL:      r.Source(),
		Requires: []*analysis.Analyzer{source.Analyzer},
		// A package that does not type-check is checked as far as it does.
		RunDespiteErrors: true,
		Run: func(pass *analysis.Pass) (any, error) {
			p := pass.ResultOf[source.Analyzer].(*source.Package)
			if !p.Uses {
				return nil, nil
			}
			r.run(&check{
				Package:  p,
				rule:     r,
				pass:     pass,
				reported: map[token.Pos]bool{},
				scopes:   map[any]bool{},
				ofReply:  map[types.Object]map[types.Object]bool{},
			})
			return nil, nil
		},
	}
}

//go:embed pages/*.md
var pages embed.FS

// Page returns the explanation of the rule in Markdown: what happens, a wrong and a correct program, and the source in the
// documentation of the service.
func (r *Rule) Page() string {
	text, err := pages.ReadFile("pages/" + r.Name + ".md")
	if err != nil {
		return "" // a test reads every page
	}
	return string(text)
}

// Source returns the address of the page of the service that the rule follows.
func (r *Rule) Source() string {
	_, address, _ := strings.Cut(r.Page(), "\nSource: ")
	address, _, _ = strings.Cut(address, "\n")
	return strings.TrimSpace(address)
}

// A check is the run of one rule on one package.
type check struct {
	*source.Package
	rule     *Rule
	pass     *analysis.Pass // of the rule, unlike that of Package
	reported map[token.Pos]bool
	scopes   map[any]bool                           // with a finding that is not repeated
	losses   []lossAt                               // of the rule untyped
	ofReply  map[types.Object]map[types.Object]bool // the variables that depend on the reply of a read
}

// report reports a mistake at n, at most once at each place.
func (c *check) report(n ast.Node, message string, fixes ...analysis.SuggestedFix) {
	if c.reported[n.Pos()] || c.ignored(n) {
		return
	}
	c.reported[n.Pos()] = true
	c.pass.Report(analysis.Diagnostic{
		Pos:            n.Pos(),
		End:            n.End(),
		Category:       c.rule.Name,
		URL:            c.rule.Source(),
		Message:        fmt.Sprintf("%s (%s, %s)", message, c.rule.Name, c.rule.Severity),
		SuggestedFixes: fixes,
	})
}

// nodes returns the nodes of type N in the package for which is is true.
func nodes[N ast.Node](c *check, is func(N) bool) iter.Seq[N] {
	return func(yield func(N) bool) {
		for _, file := range c.Files {
			for n := range source.All[N](file) {
				if is(n) && !yield(n) {
					return
				}
			}
		}
	}
}

// ignored reports whether a comment on the line of n, or on the line before, is //azvet:ignore with the name of the rule and a reason.
func (c *check) ignored(n ast.Node) bool {
	line := c.pass.Fset.Position(n.Pos()).Line
	return slices.ContainsFunc(source.Around[*ast.File](c.Package, n).Comments, func(group *ast.CommentGroup) bool {
		return slices.ContainsFunc(group.List, func(comment *ast.Comment) bool {
			words := strings.Fields(comment.Text)
			at := c.pass.Fset.Position(comment.Pos()).Line
			return words[0] == "//azvet:ignore" && len(words) > 2 && words[1] == c.rule.Name && (at == line || at == line-1)
		})
	})
}

// first reports whether it is called for the first time with a node or variable: a mistake is reported once there.
func (c *check) first(scope any) bool {
	seen := c.scopes[scope]
	c.scopes[scope] = true
	return !seen
}

// replace returns a fix that replaces the text from pos to end.
func replace(message string, pos, end token.Pos, text string) analysis.SuggestedFix {
	return fix(message, analysis.TextEdit{Pos: pos, End: end, NewText: []byte(text)})
}

func fix(message string, edits ...analysis.TextEdit) analysis.SuggestedFix {
	return analysis.SuggestedFix{Message: message, TextEdits: edits}
}

func insert(pos token.Pos, text string) analysis.TextEdit {
	return analysis.TextEdit{Pos: pos, End: pos, NewText: []byte(text)}
}

// nameOf returns the name by which the file of n refers to an imported package, and the edit that imports it if the file
// does not. ok is false if the name means something else at n.
func (c *check) nameOf(n ast.Node, path string) (name string, edits []analysis.TextEdit, ok bool) {
	file := source.Around[*ast.File](c.Package, n)
	if file == nil {
		return "", nil, false
	}
	name = path[strings.LastIndex(path, "/")+1:]
	imported := false
	for _, spec := range file.Imports {
		if spec.Path.Value == `"`+path+`"` {
			imported = true
			if spec.Name != nil {
				name = spec.Name.Name
			}
		}
	}
	meaning := c.lookup(name, n.Pos())
	if _, isPackage := meaning.(*types.PkgName); imported || meaning != nil {
		return name, nil, imported && isPackage
	}
	for _, decl := range file.Decls {
		if gen, isGen := decl.(*ast.GenDecl); isGen && gen.Tok == token.IMPORT && gen.Lparen.IsValid() {
			return name, []analysis.TextEdit{insert(gen.Lparen+1, "\n\t\""+path+"\"")}, true
		}
	}
	return name, []analysis.TextEdit{insert(file.Name.End(), "\n\nimport \""+path+"\"")}, true
}

// lookup returns what a name means at pos, or nil.
func (c *check) lookup(name string, pos token.Pos) types.Object {
	_, found := c.pass.Pkg.Scope().Innermost(pos).LookupParent(name, pos) // of no scope: nil
	return found
}

// hasLimit reports whether the function around n contains a constant from 2 to most, which may be a limit.
func (c *check) hasLimit(n ast.Node, most int64) bool {
	body, _ := c.Body(n)
	return source.Any(body, func(e ast.Expr) bool {
		number, ok := c.ConstInt(e)
		return ok && 2 <= number && number <= most
	})
}

// lenOf returns x of len(x), or nil.
func (c *check) lenOf(e ast.Expr) ast.Expr {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && c.IsBuiltin(call, "len") {
		return call.Args[0]
	}
	return nil
}

// after returns the statements that run after stmt: the if statement that it begins, or the rest of its list.
func (c *check) after(stmt ast.Stmt) []ast.Stmt {
	if s, ok := c.Parent(stmt).(*ast.IfStmt); ok {
		return []ast.Stmt{s}
	}
	list, i := c.Statement(stmt)
	return list[i+1:]
}

// signature returns the signature of a function declaration or literal, and an empty one for any other node.
func (c *check) signature(fn ast.Node) *types.Signature {
	var t types.Type
	switch fn := fn.(type) {
	case *ast.FuncDecl:
		t = c.TypeOf(fn.Name)
	case *ast.FuncLit:
		t = c.TypeOf(fn)
	}
	if signature, ok := t.(*types.Signature); ok {
		return signature
	}
	return new(types.Signature)
}
