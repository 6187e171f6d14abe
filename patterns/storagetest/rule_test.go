package storagetest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// reporter is a test that records the errors reported to it.
type reporter struct {
	testing.TB
	errors []string
}

func (r *reporter) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *reporter) Helper() {}

func TestARuleThatCanNeverActIsAnErrorAndFailsTheTest(t *testing.T) {
	for _, rule := range []storagetest.Rule{
		{},
		storagetest.On("Tabel.Insert").LoseReply(),
		storagetest.On("Table.Insert"),
		storagetest.On("Table.Insert").Nth(0).LoseReply(),
		storagetest.On("Table.Insert").Times(-1).LoseReply(),
		storagetest.On("Table.Insert").Probability(2).LoseReply(),
		storagetest.On("Table.Insert").Status(200, ""),
		storagetest.On("Table.Insert").EmptyPage(),
		storagetest.On("Table.Query").CutPage(0),
		storagetest.On("Table.Insert").Where(nil),
	} {
		r := &reporter{TB: t}
		if err := storagetest.New(r).Fault(rule); err == nil || len(r.errors) != 1 || r.errors[0] != err.Error() {
			t.Errorf("%v: %v, the test reports %q", rule, err, r.errors)
		}
		if storagetest.Start(nil).Fault(rule) == nil {
			t.Errorf("%v is accepted", rule)
		}
	}
	r := &reporter{TB: t}
	acct := storagetest.New(r)
	if err := acct.Fault(storagetest.On("*").Where(func(storagetest.Request) bool { return false }), storagetest.On("Table.*").ShortPage(1)); err != nil || r.errors != nil {
		t.Errorf("%v %q", err, r.errors)
	}
}

func TestTheStringOfARuleIsAGoExpression(t *testing.T) {
	for want, r := range map[string]storagetest.Rule{
		`On("Table.Query").Resource("people").Nth(3).Times(2).Probability(0.5).Delay(1s).DelayReply(1m0s)` +
			`.ShortPage(4).CutPage(5).BoundaryPage().EmptyPage().CutReply(7)`: storagetest.On("Table.Query").Resource("people").
			Nth(3).Times(2).Probability(0.5).Delay(time.Second).DelayReply(time.Minute).ShortPage(4).CutPage(5).BoundaryPage().EmptyPage().CutReply(7),
		`On("Table.Batch").Delay(1s).Status(503, "ServerBusy")`: storagetest.On("Table.Batch").Delay(time.Second).Status(503, "ServerBusy"),
	} {
		assert.Equal(t, r.String(), want, r)
	}
}

func TestALostRequestIsABrokenConnection(t *testing.T) {
	acct := storagetest.New(t)
	acct.Fault(storagetest.On("*").LoseRequest())
	_, err := acct.Tables().CreateTable(t.Context(), "people", nil)
	var lost *storagetest.LostError
	if !errors.As(err, &lost) || lost.Op != "Table.CreateTable" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v", err)
	}
}

func TestZeroValuesWork(t *testing.T) {
	var acct storagetest.Account
	assert.NoError(t, create(t.Context(), &acct, "people"))
	assert.Equal(t, acct.Log().Count("Table.CreateTable"), 1, "requests")
	acct.Arm()
	acct.ClearFaults()
	acct.ResetLog()
	var server storagetest.Server
	assert.Equal(t, server.Close(), nil)
	for _, text := range []string{(&storagetest.LostError{}).Error(), storagetest.Rule{}.String(), storagetest.Request{}.String(), server.ConnectionString()} {
		if text == "" {
			t.Error("an empty text")
		}
	}
}

func TestACountOfAnUnknownOperationIsNotZero(t *testing.T) {
	log := storagetest.Log{{Op: "Table.Insert", Returned: 1, Scanned: 2}, {Op: "Queue.Get", Returned: 3, Scanned: 4}}
	for _, pattern := range []string{"", "Tabel.*", "Table.Qeury"} {
		assert.Equal(t, log.Count(pattern), -1, "Count", pattern, "returns")
	}
	if log.Count("*") != 2 || log.Count("Blob.*") != 0 || len(log.Only("Queue.*")) != 1 || log.Returned() != 4 || log.Scanned() != 6 || fmt.Sprint(log.Ops()) != "[Table.Insert Queue.Get]" {
		t.Errorf("%v", log)
	}
	if text := log.String(); strings.Count(text, "\n") != 2 || !strings.Contains(text, "#0 Table.Insert") {
		t.Errorf("%s", text)
	}
}

func TestEveryExportedTypeHasADocCommentAndIsNoAlias(t *testing.T) {
	files := assert.Must(filepath.Glob("*.go"))(t)
	types := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := assert.Must(parser.ParseFile(gotoken.NewFileSet(), name, nil, parser.ParseComments))(t)
		for _, d := range file.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok || d.Tok != gotoken.TYPE {
				continue
			}
			spec := d.Specs[0].(*ast.TypeSpec)
			if !spec.Name.IsExported() {
				continue
			}
			types++
			if spec.Assign.IsValid() || d.Doc.Text() == "" {
				t.Errorf("%s is an alias or has no doc comment", spec.Name)
			}
		}
	}
	if types < 8 {
		t.Errorf("%d types", types)
	}
}
