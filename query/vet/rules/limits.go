package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"github.com/azpatterns/azpatterns/query/vet/internal/source"
)

// limits reports values that the service refuses, or which make it drop messages.
var limits = &Rule{Name: "limits", Severity: Error, run: every(options, names, recreated, growing, lease, blockIDs, binaryMessages)}

// most is the greatest value of an option.
var most = map[string]int64{"NumberOfMessages": 32, "VisibilityTimeout": 7 * 24 * 3600, "Top": 1000}

// options reports options with a number that is too large, and messages that expire soon.
func options(c *check) {
	for _, set := range c.Set {
		path, name := source.NameOf(c.TypeOf(set.Of))
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
			if valid := namedBy[call.Name]; ok && valid != nil && call.Recv != nil && (!valid.MatchString(name) || len(name) < 3 || len(name) > 63) {
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
var recreated = each("", "CreateTable CreateQueue CreateContainer Create", "the service needs at least 30 s to delete this, and refuses to create it until then; delete its content instead, or use another name (azpatterns: Table.DeleteWhere)", func(c *check, call *source.Call) bool {
	deleted := c.another(call, false, "DeleteTable", "DeleteQueue", "DeleteContainer")
	return deleted != nil && !c.leavesAfter(deleted, call) && call.Name != "Create"
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
	conversion, ok := c.Follow(call.Arg(1)).(*ast.CallExpr)
	if !ok || len(conversion.Args) != 1 || !c.pass.TypesInfo.Types[conversion.Fun].IsType() {
		return false
	}
	of := c.Follow(conversion.Args[0])
	made, ok := of.(*ast.CallExpr)
	if !ok {
		return false
	}
	var makes ast.Node = made
	if _, decl := c.DeclOf(made); decl != nil {
		makes = decl
	}
	return c.imports(makes, binary...) && !c.imports(makes, "encoding/base64", "encoding/hex", "encoding/json")
})

// binary are the packages whose functions write arbitrary bytes.
var binary = []string{"encoding/binary", "encoding/gob", "/proto", "msgpack", "compress/", "crypto/", "cbor"}
