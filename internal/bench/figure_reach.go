package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// updateReach returns how many lines of code of this module Store.Update can reach; see reach.
func updateReach(ctx context.Context) (float64, error) {
	lines, _, err := reach(ctx, ".", "github.com/azpatterns/azpatterns", "patterns", "Store", "Update")
	return float64(lines), err
}

// reach returns the lines of code of the functions that a method can reach, and the number of their
// files. A function reaches each function, and each variable of a package, that its text names. A call
// of a method of an interface reaches nothing. Only the text of functions and variables of the module
// counts, and of it the lines that are not empty and have more than a comment. dir is in the module.
func reach(ctx context.Context, dir, module, pkg, typeName, method string) (lines, files int, err error) {
	r := reached{fset: token.NewFileSet(), module: module, checked: map[string]*types.Package{}, exports: map[string]string{},
		texts: map[types.Object]ast.Node{}, names: map[*ast.Ident]types.Object{}, seen: map[types.Object]bool{}}
	if err := r.load(ctx, dir, module+"/"+pkg); err != nil {
		return 0, 0, err
	}
	named := r.checked[module+"/"+pkg].Scope().Lookup(typeName)
	start, _, _ := types.LookupFieldOrMethod(types.NewPointer(named.Type()), false, named.Pkg(), method)
	if start == nil {
		return 0, 0, fmt.Errorf("%s has no method %s", typeName, method)
	}
	r.visit(start)
	in := map[string]bool{}
	for o := range r.seen {
		if text := r.texts[o]; text != nil {
			n, err := r.codeLines(text)
			if err != nil {
				return 0, 0, err
			}
			lines += n
			in[r.fset.Position(text.Pos()).Filename] = true
		}
	}
	return lines, len(in), nil
}

// reached is the work of [reach].
type reached struct {
	fset    *token.FileSet
	module  string
	checked map[string]*types.Package // those of the module
	exports map[string]string         // files with the types of the other packages
	texts   map[types.Object]ast.Node // of functions and variables of packages
	names   map[*ast.Ident]types.Object
	seen    map[types.Object]bool
}

// load checks the types of a package and of those of the module that it imports.
func (r *reached) load(ctx context.Context, dir, pkg string) error {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-export", "-json=ImportPath,Export,Dir,GoFiles", pkg)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	others := importer.ForCompiler(r.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(r.exports[path]) })
	config := types.Config{Importer: importing(func(path string) (*types.Package, error) {
		if p := r.checked[path]; p != nil {
			return p, nil
		}
		return others.Import(path)
	})}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); { // what is imported precedes what imports it
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		if err := d.Decode(&p); err != nil {
			return err
		}
		if !strings.HasPrefix(p.ImportPath, r.module) {
			r.exports[p.ImportPath] = p.Export
			continue
		}
		if err := r.check(&config, p.ImportPath, p.Dir, p.GoFiles); err != nil {
			return err
		}
	}
	return nil
}

type importing func(path string) (*types.Package, error)

func (f importing) Import(path string) (*types.Package, error) { return f(path) }

// check checks the types of a package of the module, and records what it declares and names.
func (r *reached) check(config *types.Config, path, dir string, names []string) error {
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(r.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: r.names}
	p, err := config.Check(path, r.fset, files, &info)
	if err != nil {
		return err
	}
	r.checked[path] = p
	for _, file := range files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				r.texts[info.Defs[decl.Name]] = decl
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.ValueSpec); ok && decl.Tok == token.VAR {
						for _, name := range spec.Names {
							r.texts[info.Defs[name]] = spec
						}
					}
				}
			}
		}
	}
	return nil
}

// visit visits what o, a function or a variable, can reach.
func (r *reached) visit(o types.Object) {
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	if o == nil || r.seen[o] {
		return
	}
	r.seen[o] = true
	if text := r.texts[o]; text != nil {
		ast.Inspect(text, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok {
				switch used := r.names[name].(type) {
				case *types.Func, *types.Var:
					r.visit(used)
				}
			}
			return true
		})
	}
}

// codeLines returns the number of lines of the text with anything but comments.
func (r *reached) codeLines(text ast.Node) (n int, err error) {
	from, to := r.fset.Position(text.Pos()), r.fset.Position(text.End())
	source, err := os.ReadFile(from.Filename)
	if err != nil {
		return 0, err
	}
	var s scanner.Scanner
	part := source[from.Offset:to.Offset]
	file := token.NewFileSet().AddFile("", -1, len(part))
	s.Init(file, part, nil, 0)
	last := 0
	for {
		at, tok, literal := s.Scan()
		if tok == token.EOF {
			return n, nil
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := file.Line(at)
		end := first + strings.Count(literal, "\n")
		n += end - max(first, last+1) + 1
		last = end
	}
}
