package rules

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/query"
	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// oneKey reports queries that read more rows than the function picks by their keys.
var oneKey = &Rule{Name: "onekey", Severity: Warning, run: func(c *check) {
	for e, plans := range c.plans() {
		if pick := c.picks(e, "RowKey"); pick != nil && plans[0].Plain == query.PartitionScan {
			c.reportFilter(e, plans[0].value, "the service reads the whole partition, and the function picks rows by their row key; add RowKey eq to the filter, or use GetEntity (azpatterns: Table.Get)")
		}
	}
}}

// everything matches the names of functions that are expected to read all rows.
var everything = regexp.MustCompile(`(?i)all|export|backup|dump|migrat|copy|purge|clear|reset|scan|walk|sweep|clean|each|sync|report|list|keys|count|load|iter|delete|truncate|main`)

func (c *check) setsFilter(decl *ast.FuncDecl) bool {
	return source.Any(decl.Body, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "Filter" })
}

// picks returns a comparison of a property of a row, such as "RowKey", in the function around n, or nil.
func (c *check) picks(n ast.Node, property string) (found ast.Node) {
	decl := c.Decl(n)
	if decl == nil {
		return nil
	}
	source.Any(decl.Body, func(b *ast.BinaryExpr) bool {
		if b.Pos() < n.Pos() || b.Op != token.EQL && b.Op != token.NEQ || c.Loop(b) == nil {
			return false
		}
		for _, side := range []ast.Expr{b.X, b.Y} {
			text := exprName(side)
			isProperty := source.Root(side) != side && !source.IsError(c.TypeOf(side)) && source.IsBasic(c.TypeOf(b.Y), -1)
			if isProperty && !c.IsNil(b.Y) && (property == "" && c.lenOf(side) == nil || text == property) {
				found = b
			}
		}
		return found != nil
	})
	return found
}

// exprName returns the last name of an expression: Name of x.Name, and of x["Name"].(string).
func exprName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.TypeAssertExpr:
		return exprName(e.X)
	case *ast.StarExpr:
		return exprName(e.X)
	case *ast.IndexExpr:
		if lit, ok := e.Index.(*ast.BasicLit); ok {
			return strings.Trim(lit.Value, "\"`")
		}
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, "Get") {
			return sel.Sel.Name
		} else if x, isIdent := e.Fun.(*ast.SelectorExpr); isIdent && len(e.Args) > 0 && types.ExprString(x.X) == "strings" {
			return exprName(e.Args[0])
		} else if ok && len(e.Args) == 0 {
			return exprName(sel.X)
		} else if len(e.Args) == 1 {
			return exprName(e.Args[0])
		}
	}
	return ""
}

// openRange reports filters that look for a prefix and have no upper bound.
var openRange = &Rule{Name: "openrange", Severity: Error, run: func(c *check) {
	for e, plans := range c.plans() {
		for _, p := range plans {
			for i, part := range p.value.Parts {
				key := lowerBound.FindStringSubmatch(p.value.Example)
				if ends := prefixEnd.FindStringSubmatch(p.value.Example); ends != nil && ends[1] == ends[3] && ends[2] == ends[4] {
					c.reportFilter(e, p.value, "the upper bound leaves out keys that begin with the prefix and go on with its last character; use lt with the prefix whose last character is the next one (azpatterns: query.RowKey.HasPrefix)")
				}
				isPrefix := part.Hole != nil && strings.Contains(strings.ToLower(exprName(part.Hole)), "prefix") || prefixText.MatchString(p.value.Example)
				if isPrefix && key != nil && (part.Hole == nil || p.value.Slots[i].Quoted) && !strings.Contains(p.value.Example, key[1]+" l") {
					c.reportFilter(e, p.value, "the filter has only the lower bound of a prefix, so all greater keys match too; add "+key[1]+" lt with the prefix whose last character is the next one (azpatterns: query.RowKey.HasPrefix)")
				}
			}
		}
	}
}}

// prefixEnd matches a range from a prefix to the prefix with a digit or letter.
var prefixEnd = regexp.MustCompile(`\b(PartitionKey|RowKey) ge '([^']+)' and (PartitionKey|RowKey) l[et] '([^']+)[9zZ]'`)

// prefixText matches a lower bound that ends in a separator.
var prefixText = regexp.MustCompile(`\b(PartitionKey|RowKey) g[et] '[^']*[_\-:|~.#]'`)

var lowerBound = regexp.MustCompile(`\b(PartitionKey|RowKey) g[et] '`)

// watermark reports queries for the rows that are newer than the last one that was seen.
var watermark = &Rule{Name: "watermark", Severity: Error, run: func(c *check) {
	for _, filter := range c.Filters {
		for _, v := range filter.Values {
			for i, part := range v.Parts[:max(len(v.Parts)-1, 0)] {
				hole := v.Parts[i+1].Hole
				if hole == nil || !regexp.MustCompile(`Timestamp g[te] (datetime)?'?$`).MatchString(part.Text) {
					continue
				}
				if _, name, _ := c.clock(hole); name != "Now" {
					c.reportFilter(filter.Expr, v, "a row can become visible after rows with a later Timestamp, so a query for the rows after the last one misses it; read an overlap and drop what is known, or keep a log (azpatterns: package journal)")
				}
			}
		}
	}
}}

// accountKey reports keys of storage accounts in the program.
var accountKey = &Rule{Name: "accountkey", Severity: Security, run: func(c *check) {
	const message = "the key of the account is in the program, and each of its readers can read and write everything in the account; use a credential of azidentity, or read the key when the program starts"
	for lit := range nodes(c, func(lit *ast.BasicLit) bool { return lit.Kind == token.STRING && secret.MatchString(lit.Value) }) {
		if !c.isTest(lit) && !strings.Contains(lit.Value, emulator) {
			c.report(lit, message)
		}
	}
	for call := range c.CallsOf("", "NewSharedKeyCredential") {
		key := ""
		for _, t := range c.Texts(call.Arg(1)) {
			for _, part := range t.Parts {
				key += part.Text
			}
		}
		if account, _ := c.ConstText(call.Arg(0)); len(key) >= 16 && account != "devstoreaccount1" && !strings.HasPrefix(key, emulator) && !c.isTest(call) {
			c.report(call.Arg(1), message)
		}
	}
}}

var secret = regexp.MustCompile(`AccountKey=[A-Za-z0-9+/]{12,}=*|[?&]sig=[A-Za-z0-9%+/]{20,}`)

// emulator is the beginning of the key of the storage emulators, which is public.
const emulator = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq"

// keyMix reports keys that are written in one form and read in another.
var keyMix = &Rule{Name: "keymix", Severity: Error, run: func(c *check) {
	keys := c.composed()
	for _, read := range keys {
		for _, written := range keys {
			if written.written && !read.written && written.partition == read.partition && written.names == read.names && written.form != read.form && !slices.ContainsFunc(keys, func(k composed) bool {
				return k.written && k.partition == read.partition && k.form == read.form
			}) {
				c.report(read.expr, "this key is composed in another way than the one that is written ("+read.form+" and "+written.form+"), so the row is not found; compose keys in one function (azpatterns: package keys)")
			}
		}
	}
}}

// A composed key has the names of its values, in alphabetical order and without punctuation, and its form.
type composed struct {
	keyValue
	names, form string
}

func (c *check) composed() (all []composed) {
	for _, k := range c.keys() {
		texts := c.Texts(k.expr)
		if len(texts) != 1 {
			continue
		}
		var names []string
		form := ""
		if len(texts[0].Parts) == 1 && texts[0].Parts[0].Hole != nil { // such as url.QueryEscape(norm(mail)) and url.QueryEscape(mail)
			if form = chain(c.Follow(k.expr)); strings.Contains(form, "(") || k.written {
				all = append(all, composed{k, strings.ToLower(exprName(k.expr)) + " only", form})
			}
		}
		if len(texts[0].Parts) < 2 {
			continue
		}
		for _, part := range texts[0].Parts {
			name, text := strings.ToLower(strings.Trim(part.Text, "_-:|~.#/ ")), part.Text
			if part.Hole != nil {
				name = strings.ToLower(exprName(part.Hole))
				text = "{" + name + "}"
			}
			names, form = append(names, name), form+text
		}
		slices.Sort(names)
		all = append(all, composed{k, strings.Join(names, " "), form})
	}
	return all
}

// chain returns the functions of one argument that a value is passed through, with the last name of the value.
func chain(e ast.Expr) string {
	if call, ok := ast.Unparen(e).(*ast.CallExpr); ok && len(call.Args) == 1 {
		return nameOfCall(call) + "(" + chain(call.Args[0]) + ")"
	}
	return strings.ToLower(exprName(e))
}

// quotedKey reports keys with quotes that aztables stores in another form than it reads.
var quotedKey = &Rule{Name: "quotedkey", Severity: Error, Off: true, run: func(c *check) {
	for _, set := range c.Set {
		isKey := (set.Name == "PartitionKey" || set.Name == "RowKey") && source.IsNamed(c.TypeOf(set.Of), source.Tables, "Entity")
		outer, inEntity := c.Parent(c.Parent(set.Of)).(*ast.CompositeLit)
		if isKey && inEntity && source.IsNamed(c.TypeOf(outer), source.Tables, "EDMEntity") && c.MayHaveQuote(set.Value, 0) && !c.isInput(set.Value, 0) && c.readsQuoted(set.Name) && c.first(outer) {
			c.report(set.Value, "aztables up to v1.4.1 stores a quote in the key of an EDMEntity doubled, and GetEntity with the same key finds nothing; encode the key, or marshal a map (azpatterns: keys.Escape)")
		}
	}
}}

// readsQuoted reports whether the package reads a row by a key that may have a quote.
func (c *check) readsQuoted(name string) bool {
	for call := range c.CallsOf(source.Tables, "GetEntity", "DeleteEntity") {
		i := 1
		if name == "RowKey" {
			i = 2
		}
		if c.MayHaveQuote(call.Arg(i), 0) {
			return true
		}
	}
	return false
}
