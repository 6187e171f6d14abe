package tablectl

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// TestCommandsPrintAndExit compares what each command prints about the samples of -demo.
func TestCommandsPrintAndExit(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
		want string // the standard output
	}{
		{"count -demo People", exitDone, "18 rows, 1 request\n"},
		{"count -demo -json -where", exitUsage, ""},
		{"count -demo -json -allow-scan -where|Salary gt 1005|People", exitDone, `{"requests":1,"rows":8}` + "\n"},
		{"count -demo -where|PartitionKey eq 'Sales' and RowKey lt '000003'|People", exitDone, "3 rows, 1 request\n"},
		{"explain|PartitionKey eq 'a' and RowKey eq 'b'", exitDone, "Point  (requests at least 1, comparisons 2)\n  ->  Point          PartitionKey eq 'a' and RowKey eq 'b'\n"},
		{"explain -json|PartitionKey eq 'a' and RowKey eq 'b'", exitDone,
			`{"class":"Point","plain":"Point","reads":[{"class":"Point","filter":"PartitionKey eq 'a' and RowKey eq 'b'"}],"requests":1,"warnings":null}` + "\n"},
		{"explain|Nonsense eq", exitUsage, ""},
		{"export -demo -where|PartitionKey eq 'it''s' and RowKey eq '0'|Types -", exitDone,
			`{"PartitionKey":"it's","RowKey":"0","Big@odata.type":"Edm.Int64","Big":"9223372036854775807","Half@odata.type":"Edm.Double","Half":0.5,"Small":-1,"Text":"Grüße, \"quoted\"\u000a","Whole@odata.type":"Edm.Double","Whole":1.0,"Yes":true}` + "\n"},
		{"export -demo -dry-run -json Types nowhere/rows.jsonl", exitDone, `{"note":"dry run: nothing was changed","present":0,"refused":0,"rows":3}` + "\n"},
		{"export -demo -where|Small eq 1|Types -", exitUsage, ""},
		{"survey -demo -json People", exitDone, `{"Rows":18,"Requests":1,"Sample":false,"Managed":10,"Kinds":[{"Name":"Entity","Pattern":"","Of":"","Rows":8,"Partition":{"Prefix":"","Form":"text","Width":5,"Constant":"Sales","Distinct":1},"Row":{"Prefix":"","Form":"digits","Width":6,"Constant":"","Distinct":8},"Discriminator":"","Value":"","Properties":[{"Name":"Badge","Missing":0,"Types":{"Edm.String":8},"Forms":{},"Go":"Badge string"},{"Name":"Email","Missing":0,"Types":{"Edm.String":8},"Forms":{},"Go":"Email string"},{"Name":"Hired","Missing":0,"Types":{"Edm.DateTime":8},"Forms":{},"Go":"Hired time.Time"},{"Name":"Name","Missing":0,"Types":{"Edm.String":8},"Forms":{},"Go":"Name string"},{"Name":"Salary","Missing":0,"Types":{"Edm.Int32":8},"Forms":{},"Go":"Salary int32"}],"Others":0}]}` + "\n"},
		{"survey -demo -rows -1 People", exitFailure, ""},
		{"survey -demo Nothing", exitFailure, ""},
		{"survey -demo -package|a b|People", exitFailure, ""},
		{"verify -demo people", exitFound, "orphan    email: row \"Sales\" \"email_p3@example.com\" of \"Sales\" \"000003\"\n" +
			"orphan    email: row \"Sales\" \"email_p4@example.com\" of \"Sales\" \"000004\"\n" +
			"orphan    badge: row \"badge_Sales\" \"B0003\" of \"Sales\" \"000003\"\n" +
			"orphan    badge: row \"badge_Sales\" \"B0004\" of \"Sales\" \"000004\"\n" +
			"4 findings, 28 rows, 22 requests\n"},
		{"verify -demo -views none people", exitFailure, ""},
		{"verify -demo animals", exitUsage, ""},
		{"repair -demo people", exitDone, "0 missing, 0 wrong, 4 orphans, 0 duplicates, 4 repaired, 0 failed, 0 undecided, 28 rows, 22 requests\n"},
		{"repair -demo -dry-run people", exitDone,
			"0 missing, 0 wrong, 4 orphans, 0 duplicates, 0 repaired, 0 failed, 0 undecided, 28 rows, 22 requests (dry run: nothing was changed)\n"},
		{"sweep -demo people", exitDone, "0 operations completed, 0 reservations released, 0 removed, 0 rows too young, 0 failed\n"},
		{"poison -demo list jobs", exitDone, "mail-1  mail, 5 attempts, no such mailbox\nmail-2  mail, 5 attempts, no such mailbox\n2 messages\n"},
		{"poison -demo show jobs mail-2", exitDone, "mail-2  mail, 5 attempts, no such mailbox\n{\"to\":\"bob@example.com\"}\n1 message\n"},
		{"poison -demo replay jobs", exitUsage, ""},
		{"poison -demo replay jobs mail-1 -all", exitUsage, ""},
		{"poison -demo discard jobs none", exitFailure, ""},
		{"poison -demo lose jobs", exitUsage, ""},
		{"poison list", exitUsage, ""},
		{"count People", exitUsage, ""},
		{"count -demo -azurite People", exitUsage, ""},
		{"count -account|https://x.table.core.windows.net/?sv=1|People", exitUsage, ""},
		{"count -demo People People", exitUsage, ""},
		{"count -demo Nothing", exitFailure, ""},
		{"copy -demo People People", exitUsage, ""},
		{"copy -demo People pEOPLE", exitUsage, ""},
		{"copy -demo -mode other People New", exitUsage, ""},
		{"import -demo nowhere.jsonl New", exitUsage, ""},
		{"import -demo -mode= nowhere.jsonl New", exitUsage, ""},
		{"put -demo -mode= Types|" + `{"PartitionKey":"p","RowKey":"r","N":1}`, exitUsage, ""},
		{"tables -demo list", exitDone, "Badges\nPeople\nTypes\n3 tables\n"},
		{"tables -demo create New", exitDone, "New\n1 created, 0 present\n"},
		{"tables -demo create types New", exitDone, "New\n1 created, 1 present\n"},
		{"tables -demo drop People", exitUsage, ""},
		{"tables -demo drop People Types -yes", exitDone, "People\nTypes\n2 dropped\n"},
		{"tables -demo drop -yes people", exitDone, "people\n1 dropped\n"},
		{"tables -demo list People", exitUsage, ""},
		{"tables -demo lose People", exitUsage, ""},
		{"get -demo People Sales 000002", exitDone,
			`{"PartitionKey":"Sales","RowKey":"000002","Badge":"B0002","Email":"p2@example.com","Hired@odata.type":"Edm.DateTime","Hired":"2014-07-31T00:00:02Z","Name":"Person 2","Salary":1002,"azp_views":"badge:zs5gYtMj,email:AaGflSzi"}` + "\n"},
		{"get -demo People Sales none", exitFailure, ""},
		{"get -demo -- People Sales 000002 -json", exitUsage, ""},
		{"put -demo|" + `{"PartitionKey":"p","RowKey":"r","N":1}` + "|Types", exitUsage, ""},
		{"put -demo Types|" + `{"PartitionKey":"p","RowKey":"r","N":1}`, exitDone, "1 row\n"},
		{"put -demo -mode insert People|" + `{"PartitionKey":"Sales","RowKey":"000002"}`, exitFailure, ""},
		{"rm -demo People Sales 000002", exitDone, "1 row\n"},
		{"rm -demo People Sales none", exitFailure, ""},
		{"rm -demo People Sales", exitUsage, ""},
		{"rm -demo People", exitUsage, ""},
		{"rm -demo -where|PartitionKey eq 'Sales' and RowKey lt '000003'|People", exitDone, "3 rows, 1 request (nothing was deleted: add -yes)\n"},
		{"rm -demo -yes -where|PartitionKey eq 'Sales' and RowKey lt '000003'|People", exitDone, "3 rows, 2 requests\n"},
		{"rm -demo -yes -where|Salary gt 1005|People", exitUsage, ""},
		{"query -demo -select Name,Nothing -top 1 -csv -where|PartitionKey eq 'Sales'|People", exitDone, "PartitionKey,RowKey,Name,Nothing\nSales,000000,Person 0,\n"},
		{"query -demo -csv -select Big,Whole,Bytes,ID,Last,Infinite Types", exitDone, "PartitionKey,RowKey,Big,Whole,Bytes,ID,Last,Infinite\n" +
			"it's,0,9223372036854775807,1.0,,,,\nit's,1,,,,,,Infinity\n" +
			"it's,2,,,AP8=,c9da0000-0000-0000-0000-000000000001,9999-12-31T23:59:59.9999999Z,\n"},
		{"query -demo -csv People", exitUsage, ""},
		{"query -demo -csv -json -select Name People", exitUsage, ""},
		{"query -demo -select Salary -top 2 -where|PartitionKey eq 'Sales'|People", exitDone,
			`{"PartitionKey":"Sales","RowKey":"000000","Salary":1000}` + "\n" + `{"PartitionKey":"Sales","RowKey":"000001","Salary":1001}` + "\n"},
		{"query -demo -where|Salary gt 1005|People", exitUsage, ""},
		{"query -demo Nothing", exitFailure, ""},
		{"help", exitDone, ""},
		{"help dump", exitDone, ""},
		{"help nothing", exitUsage, ""},
		{"frobnicate", exitUsage, ""},
		{"", exitUsage, ""},
		{"-h", exitDone, ""},
		{"count -h", exitDone, ""},
		{"count -nonsense", exitUsage, ""},
	} {
		t.Setenv(connectionVariable, "")
		var args []string
		for i, part := range strings.Split(c.line, "|") {
			if i%2 == 1 {
				args = append(args, part)
			} else {
				args = append(args, strings.Fields(part)...)
			}
		}
		o := tablectl(t, nil, args...)
		assert.Equal(t, o.code, c.code)
		assert.Equal(t, o.out, c.want)
		if (c.code == exitUsage || c.code == exitFailure) && !strings.Contains(o.err, "tablectl: ") {
			t.Errorf("%s: no message in\n%s", c.line, o.err)
		}
	}
}

func TestKeysMayBeginWithAMinusAfterTheEndOfTheFlags(t *testing.T) {
	acct := storagetest.Start(nil)
	newTable(t, acct, "Odd", []row{newRow(keys.Key{Partition: "-p", Row: "-9999"}, nil)})
	for _, line := range []string{"get -demo -- Odd -p -9999", "get -demo Odd -- -p -9999", "get Odd -demo -- -p -9999"} {
		assert.Equal(t, must(t, exitDone, acct, strings.Fields(line)...).out, `{"PartitionKey":"-p","RowKey":"-9999"}`+"\n", line)
	}
	assert.Contains(t, must(t, exitUsage, acct, "get", "-demo", "Odd", "-p", "-9999").err, "  --\n    \tends the flags")
	must(t, exitDone, acct, "rm", "-demo", "--", "Odd", "-p", "-9999")
}

func TestTheSummaryOfAQueryIsNoRow(t *testing.T) {
	o := must(t, exitDone, demoAccount(t), "query", "-demo", "-json", "-select", "Salary", "-where", "PartitionKey eq 'Sales' and RowKey eq '000000'", "People")
	assert.Equal(t, o.out, `{"PartitionKey":"Sales","RowKey":"000000","Salary":1000}`+"\n")
	assert.Equal(t, strings.HasSuffix(o.err, "\n{\"rows\":1}\n"), true, o.err)
}

func TestNothingIsDroppedIfATableDoesNotExist(t *testing.T) {
	acct := demoAccount(t)
	o := must(t, exitFailure, acct, "tables", "-demo", "drop", "-yes", "People", "Od")
	assert.Contains(t, o.err, "nothing was dropped: table Od: table not found")
	assert.Contains(t, must(t, exitDone, acct, "tables", "-demo", "list").out, "People\n")
}

func TestMessagesAreReplayedAndDiscarded(t *testing.T) {
	acct := demoAccount(t)
	list := func() string { return must(t, exitDone, acct, "poison", "list", "-demo", "jobs").out }
	all := list()
	must(t, exitDone, acct, "poison", "replay", "-demo", "-dry-run", "jobs", "-all")
	assert.Equal(t, list(), all, "a dry run changed the queue")
	must(t, exitDone, acct, "poison", "replay", "-demo", "jobs", "mail-1")
	must(t, exitDone, acct, "poison", "discard", "-demo", "-kind", "mail", "-all", "jobs")
	assert.Equal(t, list(), "0 messages\n", "the poison queue has")
	if got, err := acct.Queue("jobs").GetProperties(t.Context(), nil); err != nil || *got.ApproximateMessagesCount != 1 {
		t.Errorf("the queue does not have the message that was replayed: %v", err)
	}
}

// demoAccount returns an account with the samples of -demo.
func demoAccount(t *testing.T) *storagetest.Account {
	c := &cli{}
	assert.NoError(t, assert.ErrorOf(c.openDemo(t.Context())))
	return c.demo
}

func TestRepairLeavesNothingToVerify(t *testing.T) {
	acct := demoAccount(t)
	must(t, exitDone, acct, "repair", "-demo", "-dry-run", "people")
	must(t, exitFound, acct, "verify", "-demo", "people")
	must(t, exitDone, acct, "repair", "-demo", "people")
	must(t, exitDone, acct, "verify", "-demo", "people")
}

func TestVerifyFailsIfAnEntityCannotBeReadAndIsNotContinued(t *testing.T) {
	acct := demoAccount(t)
	must(t, exitDone, acct, "repair", "-demo", "people")
	people := acct.Tables().NewClient("People")
	body := []byte(`{"PartitionKey":"Sales","RowKey":"000001","Salary":"a lot"}`)
	assert.NoError(t, assert.ErrorOf(people.UpdateEntity(t.Context(), body, nil)))
	path := filepath.Join(t.TempDir(), "verify")
	o := must(t, exitFailure, acct, "verify", "-demo", "-state", path+".state", "people")
	if !strings.Contains(o.err, `entity "Sales" "000001": `) || !strings.Contains(o.err, "1 of the entities") || !strings.HasPrefix(o.out, "0 findings, ") {
		t.Errorf("%s\n%s", o.out, o.err)
	}
	wantNoState(t, path)
}

func TestDiffPrintsWhatDiffersWithTypes(t *testing.T) {
	acct := storagetest.Start(nil)
	k := func(r string) keys.Key { return keys.Key{Partition: "p", Row: r} }
	newTable(t, acct, "One", []row{newRow(k("1"), properties{"A": int32(1)}), newRow(k("2"), properties{"A": int32(1), "B": true, "C": "x"}), newRow(k("3"), nil)})
	newTable(t, acct, "Two", []row{newRow(k("2"), properties{"A": int64(1), "C": "x", "D": 0.5}), newRow(k("3"), nil), newRow(k("4"), nil)})
	o := must(t, exitFound, acct, "diff", "-demo", "One", "Two")
	if want := `- {"PartitionKey":"p","RowKey":"1","A":1}
< {"PartitionKey":"p","RowKey":"2","A":1,"B":true}
> {"PartitionKey":"p","RowKey":"2","A@odata.type":"Edm.Int64","A":"1","D@odata.type":"Edm.Double","D":0.5}
+ {"PartitionKey":"p","RowKey":"4"}
1 added, 1 removed, 1 changed, 1 equal
`; o.out != want {
		t.Errorf("got\n%s\nwant\n%s", o.out, want)
	}
	o = must(t, exitFound, acct, "diff", "-demo", "-json", "One", "Two")
	if want := `{"from":{"PartitionKey":"p","RowKey":"1","A":1}}
{"from":{"PartitionKey":"p","RowKey":"2","A":1,"B":true},"to":{"PartitionKey":"p","RowKey":"2","A@odata.type":"Edm.Int64","A":"1","D@odata.type":"Edm.Double","D":0.5}}
{"to":{"PartitionKey":"p","RowKey":"4"}}
{"added":1,"changed":1,"equal":1,"removed":1}
`; o.out != want {
		t.Errorf("got\n%s\nwant\n%s", o.out, want)
	}
	o = must(t, exitFound, acct, "diff", "-demo", "-quiet", "-where", "PartitionKey eq 'p' and RowKey ge '3'", "One", "Two")
	assert.Equal(t, o.out, "1 added, 0 removed, 0 changed, 1 equal\n")
	twice := writeFile(t, "twice.jsonl", textOf([]row{newRow(k("1"), nil), newRow(k("1"), nil)}))
	must(t, exitFailure, acct, "diff", twice, twice)
}

func TestLinesAndRowsThatCannotBeStoredAreReportedAndKeptAside(t *testing.T) {
	const huge = 70_000
	lines := []string{
		`{"PartitionKey":"p","RowKey":"1","A":1}`,
		`not JSON`,
		``,
		`{"PartitionKey":"p","RowKey":"a/b","A":1}`,
		`{"PartitionKey":"p","RowKey":"2","A":"` + strings.Repeat("x", huge) + `"}`,
		`{"PartitionKey":"p","RowKey":"3","A@odata.type":"Edm.DateTime","A":"1600-12-31T00:00:00Z"}`,
		`{"PartitionKey":"p","RowKey":"4","1A":1}`,
		`{"PartitionKey":"p","RowKey":"5","A":5}`,
	}
	path := writeFile(t, "rows.jsonl", "\ufeff"+strings.Join(lines, "\r\n"))
	acct := storagetest.Start(nil)
	newTable(t, acct, "Target", []row{newRow(keys.Key{Partition: "p", Row: "5"}, properties{"A": int32(6)})})
	dry := must(t, exitFound, acct, "import", "-demo", "-dry-run", path, "Target")
	assert.Equal(t, strings.Count(tableText(t, acct, "Target"), "\n"), 1, "a dry run has stored rows")
	if _, err := os.Stat(path + ".refused"); !os.IsNotExist(err) {
		t.Errorf("a dry run has kept rows aside: %v", err)
	}
	o := must(t, exitFound, acct, "import", "-demo", path, "Target")
	assert.Equal(t, o.err, dry.err, "the dry run reports", "the run")
	begins, refusals, _ := strings.Cut(o.err, "\n")
	assert.Equal(t, begins, "begins at the start of "+path, "the first line is")
	var numbers []string
	for line := range strings.Lines(refusals) {
		number, _, _ := strings.Cut(line, ":")
		numbers = append(numbers, number)
	}
	assert.Equal(t, strings.Join(numbers, ", "), "line 2, line 4, line 5, line 6, line 7", "reported", o.err)
	if want := `{"PartitionKey":"p","RowKey":"1","A":1}` + "\n" + `{"PartitionKey":"p","RowKey":"5","A":5}` + "\n"; tableText(t, acct, "Target") != want {
		t.Errorf("stored\n%s", tableText(t, acct, "Target"))
	}
	aside, err := os.ReadFile(path + ".refused")
	if want := strings.Join([]string{lines[1], lines[3], lines[4], lines[5], lines[6], ""}, "\n"); err != nil || string(aside) != want {
		t.Errorf("kept aside\n%.300s\nwant\n%.300s", aside, want)
	}
}

func TestTheModeDecidesWhatHappensToRowsThatExist(t *testing.T) {
	for mode, want := range map[string]struct {
		code int
		row  string
	}{
		"replace": {exitDone, `"A":2}`},
		"merge":   {exitDone, `"A":2,"B":1}`},
		"insert":  {exitFound, `"A":1,"B":1}`},
	} {
		acct := storagetest.Start(nil)
		newTable(t, acct, "Target", []row{newRow(keys.Key{Partition: "p", Row: "r"}, properties{"A": int32(1), "B": int32(1)})})
		path := writeFile(t, "rows.jsonl", `{"PartitionKey":"p","RowKey":"r","A":2}`)
		must(t, want.code, acct, "import", "-demo", "-mode", mode, path, "Target")
		if got := tableText(t, acct, "Target"); !strings.HasSuffix(got, want.row+"\n") {
			t.Errorf("%s: %s", mode, got)
		}
	}
}

func TestFilesAreNotOverwrittenWithoutForce(t *testing.T) {
	acct := demoAccount(t)
	path := writeFile(t, "rows.jsonl", "precious")
	must(t, exitUsage, acct, "export", "-demo", "Types", path)
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("%s %v", text, err)
	}
	must(t, exitDone, acct, "export", "-demo", "-force", "Types", path)
	assert.NoError(t, (&state{Format: stateFormat, Job: "another", path: path + ".state"}).save())
	must(t, exitUsage, acct, "import", "-demo", "-create", path, "Target")
}

func TestProgressHasTheRateAndTheRemainingTime(t *testing.T) {
	p := &progress{unit: "rows", start: 100}
	assert.Equal(t, p.text(600, 1100, 10*time.Second), "600 rows, 50/s, 54%, 10s left")
	assert.Equal(t, p.text(600, 0, 10*time.Second), "600 rows, 50/s")
}

func TestTheHeatOfACommandIsSavedMergedAndDrawn(t *testing.T) {
	acct := demoAccount(t)
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	must(t, exitDone, acct, "count", "-demo", "-heat", in("a.json"), "People")
	must(t, exitDone, acct, "count", "-demo", "-heat", in("b.json"), "Types")
	must(t, exitDone, acct, "heat", in("a.json"), in("b.json"), "-o", in("both.json"))
	must(t, exitDone, acct, "heat", "-json", in("both.json"), "-o", in("page.html"))
	page, err := os.ReadFile(in("page.html"))
	if err != nil || !strings.Contains(string(page), "People") || !strings.Contains(string(page), "Types") {
		t.Errorf("the page does not have both tables: %v", err)
	}
	must(t, exitFailure, acct, "heat", in("page.html"))
}

func TestThePageOfTheHeatIsServedUntilTheCommandIsInterrupted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heat.json")
	must(t, exitDone, demoAccount(t), "count", "-demo", "-heat", path, "People")
	ctx, stop := context.WithCancel(t.Context())
	messages, w := io.Pipe()
	code := make(chan int)
	go func() {
		c := &cli{out: io.Discard, err: w}
		code <- c.run(ctx, []string{"heat", "-serve", "127.0.0.1:0", path})
	}()
	line := assert.Must(bufio.NewReader(messages).ReadString('\n'))(t)
	reply := assert.Must(http.Get(strings.TrimSpace(strings.TrimPrefix(line, "the page is at "))))(t)
	page, err := io.ReadAll(reply.Body)
	reply.Body.Close()
	assert.NoError(t, err)
	assert.Contains(t, string(page), "People")
	stop()
	assert.Equal(t, <-code, exitDone, "exit code")
	must(t, exitUsage, nil, "heat", "-serve", "nowhere", path)
}

func TestTheResultsOfEveryCommandAreJSONWithTheFlag(t *testing.T) {
	acct := demoAccount(t)
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	for _, line := range []string{"export Types " + path, "import -create " + path + " Target", "copy -create Types Other", "diff Types Target", "count Types",
		"verify people", "repair people", "sweep people", "poison list jobs", "poison show jobs"} {
		o := tablectl(t, acct, append(strings.Fields(line), "-json", "-demo")...)
		for text := range strings.Lines(o.out) {
			if !json.Valid([]byte(text)) {
				t.Errorf("%s: %s", line, text)
			}
		}
		if o.out == "" {
			t.Errorf("%s: nothing\n%s", line, o.err)
		}
	}
}

// Otherwise an import would continue in the middle of the file, in a table that does not have the first rows.
func TestAStateOfAnotherAccountIsRefused(t *testing.T) {
	path := writeFile(t, "rows.jsonl", textOf(sampleRows(10)))
	t.Setenv(connectionVariable, "AccountName=one;AccountKey="+storagetest.AccountKey+";TableEndpoint=http://127.0.0.1:1/one")
	if o := tablectl(t, nil, "import", path, "Target", "-dry-run"); o.code != exitDone {
		t.Fatalf("%+v", o)
	}
	a, err := (&cli{}).connect(os.Getenv(connectionVariable), nil, "")
	if err != nil || strings.Contains(a.account.Name, storagetest.AccountKey) {
		t.Fatalf("%q %v", a.account.Name, err)
	}
	s := state{Format: stateFormat, Job: fmt.Sprintf("%q", []string{"import", a.account.Name, path, a.account.Name, "Target", "replace", ""}), path: path + ".state"}
	s.Offset, s.Line = 100, 1
	assert.NoError(t, s.save())
	o := must(t, exitUsage, storagetest.Start(nil), "import", path, "Target", "-demo")
	assert.Contains(t, o.err, "is not the state of this command")
}

// What a message or a row contains reaches the terminal as escapes, which keep the meaning of JSON.
func TestOutputIsPrintable(t *testing.T) {
	const hostile = "\x1b]0;owned\a\u009b2J\u202egnp\u2066\U000e0041\x7f"
	acct := storagetest.New(t)
	jobs, poison := acct.Queue("jobs"), acct.Queue("jobs-poison")
	_, err1 := jobs.Create(t.Context(), nil)
	_, err2 := poison.Create(t.Context(), nil)
	quoted, err3 := json.Marshal(hostile)
	envelope := `{"azp":1,"id":"op","kind":"k","at":"2026-01-02T03:04:05Z","body":` + string(quoted) +
		`,"poison":{"message":"m","reason":` + string(quoted) + `,"attempts":5,"inserted":"2026-01-02T03:04:05Z","at":"2026-01-02T03:04:05Z"}}`
	err := errors.Join(err1, err2, err3)
	for _, text := range []string{envelope, hostile, "{ \"a\": \"\xff\u202e\" }"} {
		_, failed := poison.EnqueueMessage(t.Context(), base64.StdEncoding.EncodeToString([]byte(text)), nil)
		err = errors.Join(err, failed)
	}
	assert.NoError(t, err)
	item := assert.Must(patterns.DecodeJSON[stored]([]byte(`{"PartitionKey":"p","RowKey":"r","Name":` + string(quoted) + `}`)))(t)
	newTable(t, acct, "Rows", []row{{Item: item}})
	for _, args := range [][]string{
		{"poison", "list", "-demo", "jobs"}, {"poison", "show", "-demo", "jobs"}, {"poison", "show", "-json", "-demo", "jobs"},
		{"export", "-demo", "Rows", "-"},
	} {
		o := must(t, exitDone, acct, args...)
		if unprintable := func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }; strings.ContainsFunc(o.out+o.err, unprintable) || !utf8.ValidString(o.out) {
			t.Errorf("%q printed %q", args, o.out)
		}
		if !strings.Contains(o.out, `\u202e`) && args[0] != "poison" {
			t.Errorf("%q printed %q", args, o.out)
		}
	}
	var row map[string]any
	if err := json.Unmarshal([]byte(must(t, exitDone, acct, "export", "-demo", "Rows", "-").out), &row); err != nil || row["Name"] != hostile {
		t.Errorf("exported %q, %v", row, err)
	}
	if o := must(t, exitFailure, acct, "poison", "list", "-demo", "-poison", "a\x1b[2J", "jobs"); strings.Contains(o.err, "\x1b[2J") {
		t.Errorf("printed %q", o.err)
	}
}
