package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// access reports signatures that allow more than their purpose, or for too long, data without any key, and secrets in logs.
var access = &Rule{Name: "access", Severity: Security, run: every(permissions, expiry, public, logged)}

// permissions reports signatures that allow to read and to change.
func permissions(c *check) {
	granted := map[any][]string{}
	for _, set := range c.Set {
		path, name := source.NameOf(c.TypeOf(set.Of))
		if value := c.Const(set.Value); !source.IsSDK(path) || !strings.HasSuffix(name, "Permissions") || value == nil || value.String() != "true" || c.isTest(set.At) || c.chosen(set.At) {
			continue
		}
		of := c.entityOf(set)
		granted[of] = append(granted[of], set.Name)
		changes := slices.ContainsFunc(granted[of], func(name string) bool { return name == "Delete" || name == "Update" || name == "Write" })
		if len(granted[of]) > 3 || changes && len(granted[of]) > 1 && slices.Contains(granted[of], "Delete") && slices.Contains(granted[of], "Read") {
			if c.first(of) {
				c.report(set.Of, "the holder of this signature can read and also change or delete; permit only what its holder needs, for one table, queue or blob (azpatterns: package govern signs for a range of keys)")
			}
		}
	}
}

// chosen reports whether n is in a branch, so that the configuration or the caller decides.
func (c *check) chosen(n ast.Node) bool {
	return source.Around[*ast.CaseClause](c.Package, n) != nil || source.Around[*ast.IfStmt](c.Package, n) != nil
}

// longest is how long a signature can be valid without a stored access policy.
const longest = 7 * 24 * time.Hour

// expiry reports signatures that are valid for more than a week.
func expiry(c *check) {
	const message = "this signature is valid for more than a week, and one that leaks cannot be revoked without a new account key; sign for minutes or hours, or use a stored access policy"
	for call := range nodes(c, func(call *ast.CallExpr) bool { return strings.Contains(nameOfCall(call), "SASURL") }) {
		for _, arg := range call.Args {
			if c.isLong(arg) {
				c.report(arg, message)
			}
		}
	}
	for _, set := range c.Set {
		if value := c.Const(set.Value); set.Name == "InsecureAllowCredentialWithHTTP" && value != nil && value.String() == "true" && !c.isTest(set.At) && !c.chosen(set.At) {
			c.report(set.At, "the credential is sent without encryption; use https")
		}
		if path, name := source.NameOf(c.TypeOf(set.Of)); set.Name == "StartTime" && source.IsSDK(path) && (strings.HasSuffix(name, "SignatureValues") || strings.HasSuffix(name, "SASURLOptions")) && !c.isTest(set.At) {
			start := c.Resolve(set.Value)
			if _, now, _ := c.clock(start); now == "Now" && !source.Any(start, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "Add" }) {
				c.report(set.Value, "a service whose clock is behind refuses this signature for the first minutes; leave the start out, or set it some minutes back")
			}
		}
		if path, name := source.NameOf(c.TypeOf(set.Of)); set.Name == "ExpiryTime" && source.IsSDK(path) && strings.HasSuffix(name, "SignatureValues") && c.isLong(set.Value) {
			c.report(set.Value, message)
		}
	}
}

// nameOfCall returns the last name of what a call calls.
func nameOfCall(call *ast.CallExpr) string { return exprName(call.Fun) }

// isLong reports whether a time is made by adding more than the longest time.
func (c *check) isLong(e ast.Expr) bool {
	return source.Any(c.Follow(e), func(call *ast.CallExpr) bool {
		path, name := c.Callee(call)
		days := int64(0)
		for i, arg := range call.Args {
			n, _ := c.ConstInt(arg)
			days += n * []int64{365, 30, 1}[min(i, 2)]
		}
		if path == "time" && name == "Time.Add" && len(call.Args) == 1 {
			n, _ := c.number(call.Args[0])
			return time.Duration(n) > longest
		}
		return path == "time" && name == "Time.AddDate" && days > 7
	})
}

// public reports containers that everyone can read.
func public(c *check) {
	for _, set := range c.Set {
		value := c.Resolve(set.Value)
		if _, name := source.NameOf(c.TypeOf(value)); set.Name == "Access" && name == "PublicAccessType" && c.Const(value) != nil && !c.isTest(set.At) && !c.chosen(set.At) {
			c.report(set.Value, "everyone can read this container without a key; leave Access out, and sign an address for each reader")
		}
	}
}

// logged reports secrets that are written to a log.
func logged(c *check) {
	secrets := map[types.Object]bool{}
	for _, call := range c.Calls {
		for _, arg := range call.Args {
			if strings.HasSuffix(call.Name, "FromConnectionString") && arg == call.Args[0] || call.Name == "NewSharedKeyCredential" && arg == call.Args[len(call.Args)-1] {
				secrets[c.Object(arg)] = true
			}
		}
		if s, ok := c.Parent(call).(*ast.AssignStmt); ok && strings.Contains(call.Name, "SASURL") {
			secrets[c.Object(s.Lhs[0])] = true
		}
	}
	delete(secrets, nil)
	for _, call := range c.AllCalls() {
		for _, arg := range call.Args {
			path, name := c.Callee(call)
			if obj := c.Object(arg); (c.Logs(call) || path == "fmt" && name == "Errorf") && obj != nil && secrets[obj] && !c.isTest(call) {
				c.report(arg, "the key or signature gets into the log, and each of its readers can use the account; leave it out")
			}
		}
	}
}

// limits reports values that the service refuses, or which make it drop messages.
var limits = &Rule{Name: "limits", Severity: Error, run: every(options, names, recreated, growing, lease, expires, unreleased, blockIDs, binaryMessages, nanoseconds)}

// most is the greatest value of an option.
var most = map[string]int64{"NumberOfMessages": 32, "VisibilityTimeout": 7 * 24 * 3600, "Top": 1000}

// mostRetries is how often a request can sensibly be repeated: with the longest pause between two tries that is longer than 10 minutes.
const mostRetries = 20

// options reports options with a number that is too large, and messages that expire soon.
func options(c *check) {
	for _, set := range c.Set {
		path, name := source.NameOf(c.TypeOf(set.Of))
		if n, ok := c.number(set.Value); ok && n > mostRetries && set.Name == "MaxRetries" && name == "RetryOptions" {
			c.report(set.Value, "during an outage each call is repeated for so long that callers wait and all of them press on the service; limit the tries to a few, and the time by a deadline")
		}
		if set.Name == "StatusCodes" && name == "RetryOptions" {
			for e := range source.All[ast.Expr](c.Resolve(set.Value)) {
				if code, ok := c.ConstInt(e); ok && (code == 409 || code == 412) {
					c.report(e, fmt.Sprintf("a request that was refused with %d is refused again, however often it is sent; leave the code out, and handle the conflict (azpatterns: errors.Is with patterns.ErrConflict)", code))
				}
			}
		}
		if path != source.Tables && path != source.Queues || !strings.HasSuffix(name, "Options") {
			continue
		}
		n, ok := c.number(set.Value)
		if limit := most[set.Name]; ok && limit > 0 && n > limit {
			c.report(set.Value, fmt.Sprintf("the service refuses more than %d for %s; send several requests", limit, set.Name))
		}
		if ok && set.Name == "TimeToLive" && 0 < n && n < 600 && !c.isTest(set.At) {
			c.report(set.Value, "a message that no worker takes within "+fmt.Sprint(n)+" s is dropped, also during an outage; let messages live for days, or for ever with -1 (azpatterns: eventual.NewWorker)")
		}
	}
}

// rule of a name that the service accepts, by the functions that have it as an argument.
var (
	tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)
	queueName = regexp.MustCompile(`^([a-z0-9](-?[a-z0-9])+|\$web|\$root|\$logs)$`)
	namedBy   = map[string]*regexp.Regexp{
		"NewClient": tableName, "CreateTable": tableName, "DeleteTable": tableName, "NewQueueClient": queueName, "CreateQueue": queueName, "DeleteQueue": queueName,
		"NewContainerClient": queueName, "CreateContainer": queueName, "DeleteContainer": queueName,
	}
)

// names reports names of tables, queues and containers that the service refuses.
func names(c *check) {
	for _, call := range c.Calls {
		for _, arg := range call.Args {
			name, ok := c.ConstText(c.Resolve(arg))
			valid := namedBy[call.Name]
			if valid == nil || call.Recv == nil {
				continue
			}
			wrong := ok && (!valid.MatchString(name) || len(name) < 3 || len(name) > 63)
			if loop, isRange := c.Parent(c.Definition(c.Object(arg))).(*ast.RangeStmt); isRange && c.Literal(loop.X) != nil && c.Object(loop.Value) == c.Object(arg) {
				for _, e := range c.Literal(loop.X).Elts {
					name, ok := c.ConstText(e)
					wrong = wrong || ok && !valid.MatchString(name)
				}
			}
			for _, t := range c.Texts(arg) {
				for _, part := range t.Parts { // the middle of a name is like the part
					wrong = wrong || !ok && part.Hole == nil && !valid.MatchString("aa"+part.Text+"aa")
				}
			}
			if wrong {
				c.report(arg, "the service refuses this name: tables have 3 to 63 letters and digits, queues and containers lower-case letters, digits and single dashes")
			}
		}
	}
}

// lease reports leases of a length that the service refuses.
var lease = each(source.Blobs, "AcquireLease", "a lease lasts 15 to 60 seconds, or for ever with -1, and the service refuses other values", func(c *check, call *source.Call) bool {
	n, ok := c.number(call.Arg(1))
	return ok && n != -1 && (n < 15 || n > 60)
})

// expires reports leases that nothing renews while a function that the program is passed is at work.
var expires = each(source.Blobs, "AcquireLease", "the lease ends after so many seconds, also if the work goes on, and then another process gets it; renew it while the work goes on, and stop if that fails (azpatterns: eventual.Lease)", func(c *check, call *source.Call) bool {
	n, ok := c.number(call.Arg(1))
	return ok && n > 0 && !source.AnyIn(c.Package, func(sel *ast.SelectorExpr) bool { return sel.Sel.Name == "RenewLease" }) && source.Any(c.Decl(call).Body, func(work *ast.CallExpr) bool {
		v, isVar := c.Object(work.Fun).(*types.Var)
		return isVar && v != nil && work.Pos() > call.Pos() && c.isParam(v) && slices.ContainsFunc(work.Args, func(arg ast.Expr) bool { return source.IsNamed(c.TypeOf(arg), "context", "Context") })
	})
})

// unreleased reports leases without an end that a failure of the work leaves behind.
var unreleased = each(source.Blobs, "AcquireLease", "if the function returns before the lease is released, it lasts for ever, and nothing else can get it; release it in a deferred call", func(c *check, call *source.Call) bool {
	n, ok := c.number(call.Arg(1))
	_, err, stmt := c.Results(call.CallExpr)
	released := c.another(call, true, "ReleaseLease")
	if !ok || n != -1 || stmt == nil || released == nil || source.Around[*ast.DeferStmt](c.Package, released) != nil || source.Around[*ast.FuncLit](c.Package, released) != nil {
		return false
	}
	return source.Any(c.Decl(call).Body, func(ret *ast.ReturnStmt) bool {
		branch := source.Around[*ast.IfStmt](c.Package, ret)
		ofAcquire := branch != nil && source.Any(branch.Cond, func(id *ast.Ident) bool { return c.Object(id) == err }) && !source.Any(branch, func(s *ast.AssignStmt) bool { return c.Sets(s, err) })
		_, reset := append(c.after(stmt), nil)[0].(*ast.IfStmt)
		return ret.Pos() > call.End() && ret.End() < released.Pos() && !(ofAcquire && reset)
	})
})

// nanoseconds reports durations that become the seconds of an option.
func nanoseconds(c *check) {
	for call := range nodes(c, func(call *ast.CallExpr) bool { return len(call.Args) == 1 && !c.isTest(call) }) {
		basic, ok := c.TypeOf(call).Underlying().(*types.Basic)
		if ok && basic.Kind() == types.Int32 && c.pass.TypesInfo.Types[call.Fun].IsType() && source.IsNamed(c.TypeOf(call.Args[0]), "time", "Duration") && c.Const(call.Args[0]) == nil && c.importsSDK(call) && !source.Any(ast.Node(c.Decl(call)), func(b *ast.BinaryExpr) bool { return b.Op == token.QUO }) {
			c.report(call, "this is the number of nanoseconds, of which an int32 holds two seconds; divide by time.Second")
		}
	}
}

// growing reports properties to which each write appends.
func growing(c *check) {
	const message = "this property grows with each write, and the service refuses more than 64 KiB; store a row for each element (azpatterns: secondaryindex.Intra, logtail)"
	for _, set := range c.Set {
		sum, isSum := c.Follow(set.Value).(*ast.BinaryExpr)
		added, isCall := c.Follow(set.Value).(*ast.CallExpr)
		var was ast.Expr
		if isSum && source.IsBasic(c.TypeOf(sum), types.IsString) {
			was = sum
			for b, ok := was.(*ast.BinaryExpr); ok; b, ok = was.(*ast.BinaryExpr) {
				was = b.X
			}
		} else if isCall && c.IsBuiltin(added, "append") && len(added.Args) == 2 {
			was = added.Args[0]
		}
		decl := c.Decl(set.At)
		if _, name := source.Selected(was); decl != nil && name != "" && name == set.Name && c.writesIn(decl) && c.replies(decl)[c.Object(source.Root(was))] && !source.Any(decl.Body, func(call *ast.CallExpr) bool { return c.lenOf(call) != nil }) {
			c.report(set.At, message)
		}
	}
}

// recreated reports tables, queues and containers that are created while the service still deletes them.
var recreated = each("", "CreateTable CreateQueue CreateContainer", "the service needs at least 30 s to delete this, and refuses to create it until then; delete its content instead, or use another name (azpatterns: Table.DeleteWhere)", func(c *check, call *source.Call) bool {
	deleted := c.another(call, false, "DeleteTable", "DeleteQueue", "DeleteContainer")
	return deleted != nil && !c.uses(c.Decl(call), "BeingDeleted") && !c.leavesAfter(deleted, call)
})

// blockIDs reports block ids of different length.
var blockIDs = each(source.Blobs, "StageBlock StageBlockFromURL", "the ids of all blocks of a blob must have the same length, and this number has not; pad it with zeros", func(c *check, call *source.Call) bool {
	for _, part := range c.parts(call.Arg(1), 0) {
		if c.unpadded(part) {
			return true
		}
	}
	return false
})

// binaryMessages reports bytes that are sent as the text of a message.
var binaryMessages = each(source.Queues, "EnqueueMessage", "a message is text in XML, and the service refuses arbitrary bytes, or changes them; encode them with base64", func(c *check, call *source.Call) bool {
	made, ok := c.Follow(call.Arg(1)).(*ast.CallExpr)
	if ok && len(made.Args) == 1 && c.pass.TypesInfo.Types[made.Fun].IsType() {
		made, ok = c.Follow(made.Args[0]).(*ast.CallExpr)
	}
	if !ok {
		return false
	}
	var makes ast.Node = made
	if _, decl := c.DeclOf(made); decl != nil {
		makes = decl
	} else if path, name := c.Callee(made); path == "bytes" && (name == "Buffer.String" || name == "Buffer.Bytes") {
		makes = c.Decl(made)
	}
	packs := c.imports(makes, "compress/", "crypto/cipher")
	return c.imports(makes, binary...) && !c.imports(makes, "encoding/base64", "encoding/hex") && (packs || !c.imports(makes, "encoding/json"))
})

// binary are the packages whose functions write arbitrary bytes.
var binary = []string{"encoding/binary", "encoding/gob", "/proto", "msgpack", "compress/", "crypto/", "cbor"}
