package canary_test

import (
	"io"
	"iter"
	"log/slog"
	"math"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/denormalize"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

var (
	farTime   = time.Date(20310, 7, 8, 9, 10, 11, 0, time.UTC)
	someKeys  = append([]keys.Key{theKey, badKey, {Partition: bird, Row: "missing"}, storedKey, {Partition: repeated(2000)}, {Partition: repeated(900), Row: repeated(900)}}, foreignRows()...)
	storedKey = keys.Key{Partition: bird, Row: "stored"}
	moves     = []eventual.Row{
		{PartitionKey: bird, RowKey: bird, ETag: etag}, {PartitionKey: bird, RowKey: "foreign", Where: "Name eq '" + bird},
		{PartitionKey: bird, RowKey: badKey.Row}, {PartitionKey: bird, RowKey: "missing"}, {PartitionKey: bird, RowKey: "foreign-N"}, {PartitionKey: bird, RowKey: "foreign", Where: "Name eq 'x'"},
	}
)

// texts are keys, values, cursors, identifiers and names, and then texts that a parser refuses. A call that sends
// requests is made with the first five.
func texts() []string {
	return []string{bird, bird + "/\x01", repeated(2000), "", cursor, bird + "\xff", "missing", bird + " ",
		`{"azp":1,"id":"` + bird + `","kind":"kind","body":{"Text":"` + bird + `"}}`, bird + "2", "local", "stored",
		digits, digits + digits + digits, fraction, guid + "0", bird + "=zz", bird + "_2", bird + "_" + bird, "9" + bird, "a b", "service", "Name eq '" + bird,
		"N eq " + digits + "x", "At eq datetime'" + bird + "'", "ID eq guid'" + guid + "0'", "Raw eq X'" + bird + "'", "Name eq '" + bird + "' and",
		"https://account.table.core.windows.net/", "http://\x01" + bird}
}

// bodies are the bodies of files and messages.
func bodies() [][]byte {
	var found [][]byte
	for _, text := range []string{bird, `{"` + bird, `{"PartitionKey":"` + bird + `","RowKey":8675309421}`, `{"PartitionKey":"` + bird + `","RowKey":"` + bird + `","Name":8675309421}`,
		`{"PartitionKey":"` + bird + `","RowKey":"","Other":8675309421}`} {
		found = append(found, []byte(text))
	}
	return found
}

// add adds the values of a parameter of type V. The first is one that a call with other bad arguments can have.
func add[V any](all map[reflect.Type][]reflect.Value, values ...V) {
	for i := range values {
		all[reflect.TypeFor[V]()] = append(all[reflect.TypeFor[V]()], reflect.ValueOf(&values[i]).Elem())
	}
}

// canaries returns values for the parameters of the exported functions, by their types.
func canaries(e *env) map[reflect.Type][]reflect.Value {
	all := map[reflect.Type][]reflect.Value{}
	add(all, e.t.Context())
	add(all, texts()...)
	add(all, bodies()...)
	add(all, [][]byte{[]byte(bird)})
	add(all, map[string][]byte{bird: []byte(bird)})
	add(all, 2, -1, 3, 9)
	add(all, uint64(8675309421))
	add(all, int64(8675309421), math.MaxInt64)
	add(all, math.NaN(), -1)
	add(all, time.Second, -1)
	add(all, someTime, farTime, someTime.Add(time.Hour), someTime.AddDate(-40, 0, 0))
	add[any](all, good(bird), bad()[0], bad()[1], bad()[3], bad()[5], (*person)(nil), bird, func() {})
	add[error](all, &quotingError{bird}, nil)
	add[io.Writer](all, fullWriter{}, io.Discard)
	add[io.Reader](all, readers()...)
	add(all, url.Values{})
	add(all, journal.Version(bird), journal.Version("0000000001-0000000001"))
	add(all, e.feed(), new(journal.Feed))
	add(all, journal.Now, journal.Snapshot, 0)
	add(all, new(eventual.Worker))

	add(all, someKeys...)
	add(all, byName, badQuery, query.Prop("Name").Eq(bird), query.And(byName, query.RowKey.Eq(digits)), query.Filter{})
	add(all, query.Explain(query.PartitionKey.Eq(bird)).Class)
	add(all, query.Schema{"N": query.Int64})
	add(all, layoutKey{bird + "/", 86753094}, layoutKey{bird, 1})

	persons := append([]*person{good(bird), good("new"), good("stored"), good("damaged")}, bad()...)
	add(all, persons...)
	var people []person
	var ops []patterns.Op[person]
	var changes []patterns.StoreOp[person]
	for _, p := range persons {
		if p == nil {
			continue
		}
		people, ops, changes = append(people, *p), append(ops, patterns.InsertOp(p)), append(changes, patterns.InsertEntity(p))
	}
	add(all, people...)
	add(all, people)
	add(all, slices.Values(people))
	ops = append(ops, patterns.InsertOp(good(bird)).At(badKey), patterns.InsertOp(good(bird)).With("Name", bird),
		patterns.UpsertOp(good("d"), patterns.Mode(9)), patterns.DeleteOp[person](theKey, badETag))
	add(all, ops...)
	add(all, slices.Values(ops))
	add(all, changes...)
	add(all, slices.Values(changes))
	add(all, patterns.InsertOp[person])
	add(all, items(e)...)
	add(all, patterns.Replace, patterns.Merge, 9)
	add(all, etag, badETag, azcore.ETagAny, "")
	add(all, nil, &patterns.BulkOptions{Progress: func(p patterns.Progress) { e.take(p) }})
	add(all, nil, &patterns.SweepOptions{Progress: func(p patterns.Progress) { e.take(p) }}, &patterns.SweepOptions{OlderThan: 1, Partitions: []string{bird}}, &patterns.SweepOptions{Cursor: bird})
	add(all, patterns.OutboxMessage{Partition: bird, ID: bird}, patterns.OutboxMessage{Partition: badKey.Row, ID: bird}, patterns.OutboxMessage{Partition: bird, ID: "x"},
		patterns.OutboxMessage{Partition: bird, ID: bird, Row: repeated(1 << 16)},
		patterns.OutboxMessage{Partition: bird, Row: bird, ID: bird, Reserved: []patterns.RowRef{{View: "remote", Partition: "bin", Row: bird}}})
	add(all, patterns.Receipt{ID: bird, PopReceipt: bird})
	add(all, e.people, e.stamped, e.keyed)
	add(all, e.store)
	untyped := assert.Must(patterns.NewTable[patterns.Row](e.people.Client(), nil))(e.t)
	add(all, untyped)
	add(all, patterns.Discriminator{Property: bird}, patterns.Discriminator{})
	add(all, nil, &patterns.StoreOptions[person]{Views: append(views(e, false), views(e, false)...)}, &patterns.StoreOptions[person]{Views: views(e, false)},
		&patterns.StoreOptions[person]{Outbox: e.outbox})

	add(all, e.people.Client(), e.service.NewClient(bird))
	add(all, e.service)
	add(all, e.main, e.queue("other"))
	add(all, e.bin)
	cred := assert.Must(aztables.NewSharedKeyCredential("account", "AAAA"))(e.t)
	add(all, cred)
	add(all, nil, &aztables.ClientOptions{})
	add(all, access.Scope{Table: "people", Range: access.Partition(badKey.Row), Allow: access.Read, Expiry: someTime}, access.Scope{Policy: repeated(70)},
		access.Scope{Table: bird}, access.Scope{})

	add(all, compoundkey.ID{Partition: bird, Parent: bird}, compoundkey.ID{Partition: badKey.Row, Parent: bird}, compoundkey.ID{Partition: bird}, compoundkey.ID{Partition: bird, Parent: "foreign"}, compoundkey.ID{Partition: bird, Parent: "missing"})
	add(all, compoundkey.Span{}, compoundkey.Span{From: bird})
	add(all, []*person{good("other")}, persons)
	add(all, dataseries.ID{Partition: bird, Series: bird}, dataseries.ID{Partition: badKey.Row, Series: bird}, dataseries.ID{})
	add(all, []dataseries.Point[int64]{{Time: someTime, Value: 8675309421}, {Time: farTime, Value: 1}})
	add(all, dataseries.HoursOfDay(), dataseries.Ring{})
	add(all, nil, &dataseries.Options{Property: bird + " "})
	add[encryption.WrappingKey](all, nil, quotingKey{})
	add(all, nil, &encryption.EnvelopeOptions{Delay: -1})
	add(all, registry(e))
	add(all, nil, &entitytype.RegistryOptions{Property: "a b"})
	for _, p := range persons {
		add(all, entity(p))
		add(all, wideItem(p))
	}
	add(all, []string{"Name"})
	add(all, highvolumedelete.Day)
	add(all, []logtail.Entry[person]{{Item: patterns.Item[person]{Value: *good("a"), Key: theKey}}})
	add(all, wideentity.Item[person]{})

	add(all, payload{repeated(1 << 16), "fine"}, payload{bird, "fine"}, payload{bird, bird}, payload{})
	add(all, &eventual.EnqueueOptions{Container: e.bin}, nil, &eventual.EnqueueOptions{ID: bird + "\xff"})
	add(all, nil, &eventual.Options{Poison: e.main}, &eventual.Options{Poison: e.poison})
	add(all, nil, &eventual.ClaimsOptions{})
	add(all, nil, &eventual.LeaseOptions{Duration: -1})
	add(all, moves...)

	refused := func(int, time.Time) (keys.Key, error) { return badKey, badKey.Validate() }
	add(all, []heat.Access{heat.Write("write", refused, 1)}, []heat.Access{heat.Read("read", query.Prop("a b").Eq(bird), 1)})
	add(all, nil, &govern.Options{RetryShare: math.Inf(1)})
	for _, d := range somePapers() {
		add(all, d)
		if d != nil {
			add(all, largeentity.Item[document]{Key: papers[0], ETag: etag, Value: *d})
		}
	}
	add(all, nil, &largeentity.Options[document]{Prefix: bird + "\x01"})
	add(all, records...)
	add(all, slog.NewRecord(someTime, slog.LevelInfo, bird, 0), slog.NewRecord(farTime, slog.LevelInfo, bird, 0))
	add(all, nil, &logdata.QueryOptions{Types: []string{bird}})
	add(all, nil, &reindex.Options{Views: []string{"missing"}})
	add(all, nil, &reindex.SurveyOptions{Rows: -1})
	add(all, reindex.Job{Run: bird, Stage: 1})
	add(all, secondaryindex.Range(bird, digits), secondaryindex.Prefix(bird+"\xff"), secondaryindex.Prefix(repeated(2000)), secondaryindex.Prefix(bird+"/\x01"))
	add(all, secondaryindex.Entry[person]{})
	add(all, denormalize.Into(func(*person) (k keys.Key, c chan int, ok bool) { return }), denormalize.Into[person, person](nil),
		denormalize.Sum("a b", func(*person) (k keys.Key, n int64, ok bool) { return }), denormalize.Part[person]{})
	add[iter.Seq2[secondaryindex.Entry[person], error]](all, func(yield func(secondaryindex.Entry[person], error) bool) { yield(secondaryindex.Entry[person]{}, nil) })
	account := shards.Account{Name: bird, Tables: e.service}
	add(all, shards.Account{Name: bird + "3", Tables: e.service, Table: "sharded3"}, account)
	add(all, []shards.Account{account, account}, []shards.Account{account})
	accounts, table, _ := sharded(e)
	add(all, accounts)
	add(all, table)
	add[*logdata.Writer](all, nil)
	return all
}

// names are the parameters, by function, that are names of views, properties or parts: the program chose them, and
// errors contain them.
var names = map[string][]int{
	"eventual.Enqueue": {2}, "keys.Check": {0}, "reindex.Backfill": {2}, "reindex.Runs.Backfill": {2},
	"patterns.Store.SetViewState": {1},
}

// someNames are names of a view and a part, and names that do not exist.
func someNames() (found []reflect.Value) {
	for _, name := range []string{"local", "RowKey", "missing", "a b", ""} {
		found = append(found, reflect.ValueOf(name))
	}
	return found
}
