package rules

import (
	"go/ast"
	"go/types"
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
		if path == "time" && name == "Time.Add" && days > 0 {
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
