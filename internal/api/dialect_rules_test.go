package api

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// dialect are the rules for the exported names of all packages. Each returns what is wrong with a
// declaration, or "". testdata/dialect.go has deviations from each.
var dialect = map[string]func(declared) string{
	"constructor": constructor, "options": options, "context": contextFirst, "table": ofATable, "create": create, "cursor": cursors,
	"sweep": sweep, "field": field, "name": name, "result": result, "page": page, "hook": hook, "accessor": accessor, "key": key,
	"view": view, "error": badOption, "query": queries, "progress": oneProgress, "range": ranges,
}

// constructor: NewX(handles, names, *Options) (*X, error).
func constructor(d declared) string {
	s := d.signature()
	if s == nil || d.of != nil || !strings.HasPrefix(d.name, "New") {
		return ""
	}
	params, results := typesOf(s.Params()), typesOf(s.Results())
	if len(results) != 2 || !strings.HasPrefix(results[0], "*") || results[1] != "error" {
		return "it has to return a pointer and an error"
	}
	if len(params) == 0 || !isOptions(params[len(params)-1]) {
		return "the last parameter has to be the options"
	}
	named := false
	for _, p := range params[:len(params)-1] {
		if named && strings.Contains(p, ".") && (strings.HasPrefix(p, "*") || strings.HasPrefix(p, "[]")) {
			return "handles come before names"
		}
		named = named || p == "string"
	}
	return ""
}

// options are a pointer, and the last parameter.
func options(d declared) string {
	if s := d.signature(); s != nil {
		for i, p := range typesOf(s.Params()) {
			if isOptions(p) && (!strings.HasPrefix(p, "*") || i != s.Params().Len()-1) {
				return "options are the last parameter, and a pointer"
			}
		}
	}
	return ""
}

func contextFirst(d declared) string {
	if s := d.signature(); s != nil && slices.Index(typesOf(s.Params()), goContext) > 0 {
		return "the context is the first parameter"
	}
	return ""
}

// takesContext reports whether d makes requests.
func takesContext(s *types.Signature) bool {
	return s != nil && s.Params().Len() > 0 && typeOf(s.Params().At(0).Type()) == goContext
}

// ofATable: what is made on the client of a table has the methods Create and Client.
func ofATable(d declared) string {
	s := d.signature()
	if s == nil || d.of != nil || !strings.HasPrefix(d.name, "New") || s.Results().Len() == 0 || !slices.Contains(typesOf(s.Params()), tableClient) {
		return ""
	}
	methods := types.NewMethodSet(s.Results().At(0).Type())
	if methods.Lookup(d.pkg, "Create") == nil {
		return "the type needs Create"
	}
	if typeOf(s.Params().At(0).Type()) == tableClient && methods.Lookup(d.pkg, "Client") == nil {
		return "the type needs Client"
	}
	return ""
}

func create(d declared) string {
	if s := d.signature(); s != nil && d.of != nil && d.last() == "Create" &&
		(!slices.Equal(typesOf(s.Params()), []string{goContext}) || !slices.Equal(typesOf(s.Results()), []string{"error"})) {
		return "want Create(ctx) error"
	}
	return ""
}

// cursors are string arguments; only a sweep has one among its options.
func cursors(d declared) string {
	if d.option() && d.last() == "Cursor" && typeOf(d.of) != sweepOptions {
		return "a cursor is an argument"
	}
	if s := d.signature(); s != nil {
		for p := range s.Params().Variables() {
			if p.Name() == "cursor" && typeOf(p.Type()) != "string" {
				return "a cursor is a string"
			}
		}
	}
	return ""
}

func sweep(d declared) string {
	s := d.signature()
	if _, isType := d.obj.(*types.TypeName); isType && (strings.HasSuffix(d.name, "SweepOptions") || strings.HasSuffix(d.name, "SweepReport")) &&
		typeOf(d.obj.Type()) != sweepOptions && typeOf(d.obj.Type()) != sweepReport {
		return "there is one SweepOptions and one SweepReport"
	}
	switch {
	case s == nil || !strings.HasPrefix(d.last(), "Sweep"):
		return ""
	case d.of == nil || d.last() != "Sweep":
		return "it has to be a method Sweep"
	case !slices.Equal(typesOf(s.Params()), []string{goContext, "*" + sweepOptions}) || !slices.Equal(typesOf(s.Results()), []string{sweepReport, "error"}):
		return "want Sweep(ctx, *SweepOptions) (SweepReport, error)"
	}
	return ""
}

// fields are options that mean the same thing everywhere.
var fields = map[string]string{
	"Parallel": "int", "Tries": "int", "Limit": "int", "PageSize": "int", "Select": "[]string", "DryRun": "bool", "StampWrites": "bool",
	"OlderThan": "time.Duration", "Grace": "time.Duration", "Lease": "time.Duration", "Visibility": "time.Duration",
	"Tracing": sdk + "azcore/tracing.Provider", "SigningKeys": "[][]byte", "Progress": "func(patterns/types.Progress)",
}

func field(d declared) string {
	if !d.option() {
		return ""
	}
	got, want := typeOf(d.obj.Type()), fields[d.last()]
	if d.last() == "Key" && !(strings.HasPrefix(got, "func(*") && strings.HasSuffix(got, ")keys.Key, error")) {
		return "want func(*T) (keys.Key, error)"
	}
	if want != "" && got != want {
		return fmt.Sprintf("want %s %s, got %s", d.last(), want, got)
	}
	return ""
}

// names are those that have another name in this dialect.
var names = map[string]string{
	"UpdateTries": "Tries", "MaxTries": "Tries", "Attempts": "Tries", "MaxAttempts": "Tries", "Retries": "Tries", "Concurrency": "Parallel",
	"Workers": "Parallel", "MinAge": "OlderThan", "Simulate": "DryRun", "Continuation": "Cursor", "Token": "Cursor", "OnProgress": "Progress",
}

func name(d declared) string {
	last := d.last()
	switch {
	case d.option() && names[last] != "":
		return "it is called " + names[last]
	case d.option() && last == "Grace" && strings.Contains(d.name, "Sweep"):
		return "it is called OlderThan"
	case strings.Contains(last, "SamePartition") || strings.Contains(last, "OtherPartition"):
		return "it is called Intra or Inter"
	case d.of != nil && d.signature() != nil && slices.Contains([]string{"Read", "Fetch"}, last) && takesContext(d.signature()):
		return "it is called Get, Query, Page or Scan"
	}
	return ""
}

// result: Get returns one, Query and Scan a sequence.
func result(d declared) string {
	s := d.signature()
	if d.of == nil || !takesContext(s) {
		return ""
	}
	switch d.last() {
	case "Get":
		if s.Results().Len() != 2 || typeOf(s.Results().At(1).Type()) != "error" {
			return "want (X, error)"
		}
	case "Query", "Scan", "Pages":
		if sequenceOf(s.Results()) == "" {
			return "want iter.Seq2[X, error]"
		}
	}
	return ""
}

// page: Page(ctx, …, cursor string, *Options) (P, error), with Pages of the same parameters; Scan has them too.
func page(d declared) string {
	s := d.signature()
	if d.of == nil || !takesContext(s) || !slices.Contains([]string{"Page", "Pages", "Scan"}, d.last()) {
		return ""
	}
	n := s.Params().Len()
	if params := typesOf(s.Params()); n < 3 || !isOptions(params[n-1]) || params[n-2] != "string" || s.Params().At(n-2).Name() != "cursor" {
		return "the last parameters have to be a cursor and options"
	}
	if d.last() != "Page" {
		return ""
	}
	pages := types.NewMethodSet(types.NewPointer(d.of)).Lookup(d.pkg, "Pages")
	if pages == nil {
		return "the type needs Pages"
	}
	of := pages.Obj().(*types.Func).Signature()
	if !slices.Equal(typesOf(of.Params()), typesOf(s.Params())) || sequenceOf(of.Results()) != typeOf(s.Results().At(0).Type()) {
		return "Pages has to have the same parameters, and return these pages"
	}
	return ""
}

// hook: what extends client options is func(*azcore.ClientOptions).
func hook(d declared) string {
	s := d.signature()
	if s == nil || !slices.Contains(typesOf(s.Params()), clientHook) {
		return ""
	}
	if s.Params().Len() != 1 || s.Results().Len() != 0 {
		return "want func(*azcore.ClientOptions)"
	}
	if d.of != nil && d.last() != "Attach" {
		return "it is called Attach"
	}
	return ""
}

// accessors are the names of methods that return a client.
var accessors = map[string]string{
	tableClient: "Client", "*" + sdk + "data/aztables.ServiceClient": "Service", "*" + sdk + "storage/azqueue.QueueClient": "Queue",
	"*" + sdk + "storage/azblob/container.Client": "Container",
}

func accessor(d declared) string {
	s := d.signature()
	if s == nil || d.of == nil || s.Params().Len() != 0 || s.Results().Len() != 1 {
		return ""
	}
	if want := accessors[typeOf(s.Results().At(0).Type())]; want != "" && d.last() != want {
		return "it is called " + want
	}
	return ""
}

// key: a value has its key, by Options.Key or by the tags of its type.
func key(d declared) string {
	s := d.signature()
	if d.of != nil && takesContext(s) && slices.Contains([]string{"Insert", "Put", "Upsert"}, d.last()) && slices.Contains(typesOf(s.Params()), "keys.Key") {
		return "the value has the key"
	}
	return ""
}

// view: views are declared by Intra… or Inter…, without an error.
func view(d declared) string {
	s := d.signature()
	if s == nil || d.of != nil || s.Results().Len() == 0 {
		return ""
	}
	engine := types.NewMethodSet(s.Results().At(0).Type()).Lookup(d.pkg, "Engine")
	if engine == nil || !slices.Equal(typesOf(engine.Obj().(*types.Func).Signature().Results()), []string{"*internal/view.View", "error"}) {
		return ""
	}
	if s.Results().Len() != 1 {
		return "a view is declared without an error, which NewStore returns"
	}
	if !strings.HasPrefix(d.name, "Intra") && !strings.HasPrefix(d.name, "Inter") && d.name != "Lookup" && d.name != "At" && d.name != "Of" { // the first two have rows in any partition, a journal has none of its own
		return "it is called Intra or Inter"
	}
	return ""
}

// queries: what reads several rows takes the QueryOptions of all packages, or options that embed them.
func queries(d declared) string {
	s := d.signature()
	if d.of == nil || !takesContext(s) || !slices.Contains([]string{"Query", "Page", "Pages", "Scan", "Segments", "Children", "DeleteWhere"}, d.last()) {
		return ""
	}
	p, ok := s.Params().At(s.Params().Len() - 1).Type().(*types.Pointer)
	if !ok || !isOptions(typeOf(p)) || typeOf(p.Elem()) == queryOptions {
		return "" // what takes no options has another rule
	}
	if fields, ok := p.Elem().Underlying().(*types.Struct); ok {
		for f := range fields.Fields() {
			if f.Embedded() && typeOf(f.Type()) == queryOptions {
				return ""
			}
		}
	}
	return "the options have to be patterns.QueryOptions, or embed them"
}

// oneProgress: there is one type that counts what a call has done so far.
func oneProgress(d declared) string {
	if _, isType := d.obj.(*types.TypeName); isType && strings.HasSuffix(d.name, "Progress") && typeOf(d.obj.Type()) != progress {
		return "it is patterns.Progress"
	}
	return ""
}

// ranges: what begins at From ends before To, and nothing ends with a last, inclusive one.
func ranges(d declared) string {
	var names []string
	if s := d.signature(); s != nil {
		for p := range s.Params().Variables() {
			names = append(names, p.Name())
		}
	} else if v, ok := d.obj.(*types.Var); ok && v.IsField() {
		names = []string{d.last()}
	}
	for _, n := range names {
		if slices.Contains([]string{"first", "last", "until", "through", "First", "Last", "Until", "Through"}, n) {
			return "a range is from and to, and excludes its end"
		}
	}
	return ""
}

// badOption: there is one error for options.
func badOption(d declared) string {
	if _, isVar := d.obj.(*types.Var); isVar && d.of == nil && path(d.pkg) != "patterns" &&
		(strings.HasSuffix(d.name, "BadOption") || strings.HasSuffix(d.name, "BadOptions") || strings.HasSuffix(d.name, "BadConfig")) {
		return "it is patterns.ErrBadOption"
	}
	return ""
}
