package fault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"net/http"
	"slices"
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

func TestANumberWithoutSenseIsASlip(t *testing.T) {
	rule := fault.On("Table.Insert")
	for want, f := range map[string]func(){
		".Nth(0)":           func() { rule.Nth(0) },
		".Nth(-1)":          func() { rule.Nth(-1) },
		".Times(0)":         func() { rule.Nth(2).Times(0) },
		".Probability(1.5)": func() { rule.Probability(1.5) },
		".Probability(-1)":  func() { rule.Probability(-1) },
		".Probability(NaN)": func() { rule.Probability(math.NaN()) },
		".Status(0, ":       func() { rule.Status(0, "ServerBusy") },
		".Status(200, ":     func() { rule.Status(200, "ServerBusy") },
		".ShortPage(0)":     func() { rule.ShortPage(0) },
		".CutPage(0)":       func() { rule.CutPage(0) },
	} {
		if said, ok := panics(f).(string); !ok || !strings.Contains(said, `On("Table.Insert")`) || !strings.Contains(said, want) {
			t.Errorf("%s: %v", want, said)
		}
	}
	if said := panics(func() {
		rule.Nth(1).Times(1).Probability(0).Probability(1).Status(304, "").Status(599, "X").ShortPage(1).CutPage(1)
	}); said != nil {
		t.Error(said)
	}
	if said := panics(func() { fault.Wrap(&service{}, nil).Fault(fault.Rule{}.LoseReply()) }); said == nil {
		t.Error("a rule that names no operation is taken")
	}
}

func TestACountOfNoOperationIsASlip(t *testing.T) {
	for _, pattern := range []string{"", "Tabel.*", "Table.Qeury"} {
		if said, ok := panics(func() { fault.Log{}.Count(pattern) }).(string); !ok || !strings.Contains(said, strconv.Quote(pattern)) {
			t.Errorf("Count(%q): %v", pattern, said)
		}
	}
	if n := (fault.Log{{Op: fault.TableQuery}, {Op: fault.Unknown}}).Count("*"); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestARuleThatNeverActedIsTold(t *testing.T) {
	tr := fault.Wrap(&service{}, nil)
	acts, cleared, idle := fault.On("Table.Insert").Delay(0), fault.On("Table.Insert").Nth(2).LoseReply(), fault.On("Table.*").Resource("Nobody").LoseReply()
	tr.Fault(acts, cleared)
	send(t, tr, http.MethodPost, base+"/People", "{}")
	tr.Clear()
	tr.Fault(idle, fault.On("*").Probability(0).LoseReply(), fault.On("*").Where(func(fault.Request) bool { return false }))
	send(t, tr, http.MethodPost, base+"/People", "{}")
	var told []string
	for _, r := range tr.Idle() {
		told = append(told, r.String())
	}
	if want := []string{cleared.String(), idle.String()}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
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
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + "x" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
		{base + "/$batch", batch("PATCH " + base + "/People(PartitionKey='" + "xx" + strings.Repeat("%20", 500) + "',RowKey='r')"), "People"},
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

func TestAWhereSeesTheRowsOfAnInsertAndOfABatch(t *testing.T) {
	const azurite = "http://127.0.0.1:10002/devstoreaccount1"
	part := func(request, body string) string {
		return "--changeset_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" + request + " HTTP/1.1\r\nAccept: application/json\r\n\r\n" + body + "\r\n"
	}
	batch := func(to string) string {
		return "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n" +
			part("POST "+to+"/People", `{"A":"`+strings.Repeat("x", 5000)+`","PartitionKey":"o'n","RowKey":"{1}"}`) +
			part("PATCH "+to+"/People(PartitionKey='o''n',RowKey='a%20b')", `{"PartitionKey":"other","RowKey":"other"}`) +
			part("DELETE "+to+"/People(PartitionKey='o''n',RowKey='')", "") + "--changeset_1--\r\n--batch_1--\r\n"
	}
	three := []fault.Key{{Partition: "o'n", Row: "{1}"}, {Partition: "o'n", Row: "a b"}, {Partition: "o'n", Row: ""}}
	for _, tt := range []struct {
		at, body string
		rows     []fault.Key
	}{
		{base + "/People", `{"A":1,"PartitionKey":"p","RowKey":"r"}`, []fault.Key{{Partition: "p", Row: "r"}}},
		{base + "/People", `{"PartitionKey":"p"}`, nil},
		{base + "/People", `{"PartitionKey":1,"RowKey":2}`, nil},
		{base + "/People", `no JSON`, nil},
		{base + "/People", "", nil},
		{base + "/$batch", batch(base), three},
		{azurite + "/$batch", batch(azurite), three},
	} {
		s := &service{}
		tr := fault.Wrap(s, nil)
		var seen []fault.Key
		tr.Fault(fault.On("Table.*").Where(func(q fault.Request) bool { seen = q.Rows; return false }))
		if _, err := send(t, tr, http.MethodPost, tt.at, tt.body); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen, tt.rows) {
			t.Errorf("%s %.80s: %q, want %q", tt.at, tt.body, seen, tt.rows)
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
