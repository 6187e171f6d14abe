package fault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/azpatterns/azpatterns/internal/fault"
)

func panics(f func()) (said any) {
	defer func() { said = recover() }()
	f()
	return nil
}

func TestARuleThatCanNeverActIsASlip(t *testing.T) {
	for _, pattern := range []string{"", "[", "Tabel.Insert", "Table.Inserts", "table.insert", "Table", "Blob.*Message"} {
		if said, ok := panics(func() { fault.On(pattern) }).(string); !ok || !strings.Contains(said, strconv.Quote(pattern)) {
			t.Errorf("On(%q): %v", pattern, said)
		}
	}
	tr := fault.Wrap(&service{}, nil)
	if said := panics(func() { tr.Fault(fault.On("Table.Insert").Nth(2)) }); said == nil {
		t.Error("a rule without an effect is taken")
	}
	for _, rule := range []fault.Rule{
		fault.On("Table.Insert").EmptyPage(), fault.On("Table.Get").ShortPage(1), fault.On("Queue.Get").CutPage(1),
		fault.On("Blob.List").BoundaryPage(), fault.On("Table.*").Late(), fault.On("Queue.Peek").Redeliver(), fault.On("Table.Get").LoseReply().ShortPage(1),
	} {
		if said, ok := panics(func() { tr.Fault(rule) }).(string); !ok || !strings.Contains(said, rule.String()) || !strings.Contains(said, " is for ") {
			t.Errorf("%v: %v", rule, said)
		}
	}
	if said := panics(func() {
		tr.Fault(fault.On("*").EmptyPage(), fault.On("Table.*").ShortPage(1), fault.On("Queue.ListQueues").EmptyPage(), fault.On("Blob.List").ShortPage(2), fault.On("Queue.*").Redeliver())
		tr.Fault(fault.On("*").Where(func(fault.Request) bool { return false }))
		tr.Fault(fault.On("Table.Insert").Delay(0), fault.On("*").Late(), fault.On("Table.*").CutReply(0))
	}); said != nil {
		t.Error(said)
	}
}

func TestOnTakesEveryOperation(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "op.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			names++
			name, _ := strconv.Unquote(lit.Value)
			if said := panics(func() { fault.On(name) }); said != nil {
				t.Error(said)
			}
		}
		return true
	})
	if names < 50 {
		t.Errorf("%d operations", names)
	}
}

func TestABatchAndANewTableAreKnownByNameBeforeTheyAreSent(t *testing.T) {
	const azurite = "http://127.0.0.1:10002/devstoreaccount1"
	batch := func(to string) string {
		return "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n--changeset_1\r\nContent-Type: application/http\r\n" +
			"Content-Transfer-Encoding: binary\r\n\r\n" + to + " HTTP/1.1\r\n\r\n" + strings.Repeat("x", 5000)
	}
	for _, tt := range []struct{ at, body, resource string }{
		{base + "/$batch", batch("POST " + base + "/People"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='p',RowKey='r')"), "People"},
		{azurite + "/$batch", batch("DELETE " + azurite + "/People(PartitionKey='p',RowKey='r')"), "People"},
		{azurite + "/$batch", batch("GET " + azurite + "/People?$filter=x"), "People"},
		{base + "/$batch", batch("PUT http://%zz/People"), ""},
		{base + "/$batch", "garbage", ""},
		{base + "/Tables", `{"TableName":"People"}`, "People"},
		{azurite + "/Tables", `{"TableName":`, ""},
	} {
		s := &service{}
		tr := fault.Wrap(s, nil)
		tr.Fault(fault.On("*").Resource("people").Nth(2).Status(503, "ServerBusy"))
		for range 2 {
			if _, err := send(t, tr, "POST", tt.at, tt.body); err != nil {
				t.Fatal(err)
			}
		}
		log := tr.Log()
		if log[0].Resource != tt.resource || (log[1].Status == 503) != (tt.resource != "") {
			t.Errorf("%s %.300s:\n%v", tt.at, tt.body, log)
		}
		if s.sent[0] != tt.body {
			t.Errorf("%d bytes arrived of %d", len(s.sent[0]), len(tt.body))
		}
	}
}

func TestABodyThatCannotBeReadIsNotCutShort(t *testing.T) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/$batch", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("--batch"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fault.Wrap(&service{}, nil).Do(req); err != iotest.ErrTimeout {
		t.Errorf("%v", err)
	}
}
