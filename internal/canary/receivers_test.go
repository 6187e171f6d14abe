package canary_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/access"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
	"github.com/azpatterns/azpatterns/patterns/dataseries"
	"github.com/azpatterns/azpatterns/patterns/encryption"
	"github.com/azpatterns/azpatterns/patterns/entitytype"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/expiry"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/highvolumedelete"
	"github.com/azpatterns/azpatterns/patterns/indexentity"
	"github.com/azpatterns/azpatterns/patterns/journal"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/logdata"
	"github.com/azpatterns/azpatterns/patterns/logtail"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
	"github.com/azpatterns/azpatterns/query"
)

// quotingQueue is an outbox whose errors quote what they are about.
type quotingQueue struct{ *harness.OutboxQueue }

func (q quotingQueue) Put(_ context.Context, m patterns.OutboxMessage, _ time.Duration) (patterns.Receipt, error) {
	return patterns.Receipt{}, fmt.Errorf("no room for %s", m.Partition)
}

// views returns a local unique view, a remote one, and, if asked for, one that quotes the value in its error.
func views(e *env, broken bool) []patterns.View[person] {
	local := secondaryindex.Intra("local", nameOf, nil)
	remote := secondaryindex.Inter("remote", nil, nameOf, nil)
	found := []patterns.View[person]{local, remote}
	if broken {
		found = append(found, patterns.ViewOf("broken", patterns.Shape{}, func(p *person) ([]patterns.DerivedRow, error) {
			return nil, fmt.Errorf("no row for %s", p.Name)
		}))
	}
	return found
}

func (e *env) newStore(broken bool, queue patterns.OutboxQueue) *patterns.Store[person] {
	return assert.Must(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: views(e, broken), Outbox: queue,
		OnPending: func(_ context.Context, _ keys.Key, err error) { e.take(err) }}))(e.t)
}

func (e *env) prepareStore() {
	e.outbox = new(harness.OutboxQueue)
	e.store = e.newStore(false, e.outbox)
	assert.NoError(e.t, assert.ErrorOf(e.store.Insert(e.t.Context(), good("stored"))))
}

func reader(e *env) *patterns.Reader[person] {
	return assert.Must(patterns.Project[person](e.people))(e.t)
}

// items returns items that cannot be written.
func items(e *env) []patterns.Item[person] {
	stale, malformed, moved, invalid := e.item, e.item, e.item, e.item
	stale.ETag, malformed.ETag, moved.Value.RowKey, invalid.Value.Name = etag, badETag, digits, bird+"\xff"
	missing := patterns.Item[person]{Value: *good("missing"), Key: good("missing").Key(), ETag: etag}
	return []patterns.Item[person]{stale, malformed, moved, invalid, missing}
}

type family = compoundkey.Family[person, person]

func families(e *env) *family {
	return assert.Must(compoundkey.New(e.people.Client(), func(p *person) compoundkey.ID { return compoundkey.ID{Partition: p.PartitionKey, Parent: p.RowKey} },
		func(p *person) (compoundkey.ID, string) {
			return compoundkey.ID{Partition: p.PartitionKey, Parent: p.RowKey}, p.Name
		}, nil))(e.t)
}

func seriesOf(e *env) *dataseries.Series[int64] {
	return assert.Must(dataseries.New[int64](e.people.Client(), dataseries.HoursOfDay(), nil))(e.t)
}

func registry(e *env) *entitytype.Registry {
	r := assert.Must(entitytype.NewRegistry(nil))(e.t)
	assert.NoError(e.t, entitytype.Register(r, "Person", 1, func(p person) (any, error) { return nil, fmt.Errorf("no upcast of %s", p.Name) }))
	return r
}

func entities(e *env) *entitytype.Table {
	return assert.Must(entitytype.New(e.people.Client(), registry(e), nil))(e.t)
}

func periods(e *env) *highvolumedelete.Tables[person] {
	return assert.Must(highvolumedelete.New[person](e.service, "Events", highvolumedelete.Day, nil))(e.t)
}

func logOf(e *env) *logtail.Log[person] {
	return assert.Must(logtail.New[person](e.people.Client(), nil))(e.t)
}

func wide(e *env) *wideentity.Table[person] {
	return assert.Must(wideentity.New[person](e.people.Client(), nil))(e.t)
}

func entity(p *person) entitytype.Entity {
	var e entitytype.Entity
	e.Key, e.ETag, e.Value = theKey, etag, p
	return e
}

func wideItem(p *person) wideentity.Item[person] {
	item := wideentity.Item[person]{Key: theKey, ETag: etag}
	if p != nil {
		item.Value = *p
	}
	return item
}

// document is an entity with large fields.
type document struct {
	PartitionKey, RowKey string
	Name                 string
	Text                 string             `table:",blob"`
	Quoting              *quoting           `table:",blob"`
	Video                largeentity.Stream `table:",blob"`
}

// brokenReader is a source whose error quotes what was read.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, fmt.Errorf("after %s", bird) }

func documents(e *env) *largeentity.Table[document] { return documentsWith(e, e.outbox) }

func documentsWith(e *env, queue patterns.OutboxQueue) *largeentity.Table[document] {
	return assert.Must(largeentity.New(e.people.Client(), e.bin, &largeentity.Options[document]{Threshold: largeentity.Always, Outbox: queue}))(e.t)
}

func somePapers() []*document {
	bad := quoting(bird)
	return []*document{
		{PartitionKey: bird, RowKey: "paper", Name: bird, Text: bird},
		{PartitionKey: bird, RowKey: "paper", Name: bird, Text: bird}, // exists
		{PartitionKey: bird, RowKey: bird + "/", Text: bird},
		{PartitionKey: bird, RowKey: "quoting", Quoting: &bad},
		{PartitionKey: bird, RowKey: "reader", Video: largeentity.StreamOf(brokenReader{})},
		{PartitionKey: bird, RowKey: "video", Video: largeentity.StreamOf(strings.NewReader(bird))},
		{PartitionKey: bird, RowKey: "utf", Name: bird + "\xff", Text: bird + "\xff"},
		nil,
	}
}

var papers = []keys.Key{{Partition: bird, Row: "paper"}, {Partition: bird, Row: "video"}, badKey, {Partition: bird, Row: "missing"}, {Partition: bird, Row: "foreign"}}

// logWriter returns a writer whose container is reached through the network.
func logWriter(e *env) *logdata.Writer {
	return assert.Must(logdata.NewWriter(e.bin, "service", nil))(e.t)
}

var records = []logdata.Record{
	{Time: someTime, Type: "INFO", Message: bird, Attrs: []byte(`{"a":"` + bird + `"}`)},
	{Time: someTime, Type: bird + "\xff", Message: bird + "\xff"},
	{Time: farTime, Type: "INFO", Message: bird},
	{Time: someTime, Type: "INFO", Attrs: []byte(`{"a":` + bird)},
	{Time: someTime, Type: "INFO", Message: repeated(5 << 20)},
}

func nameOf(p *person) (string, bool) {
	if p == nil {
		return "", false
	}
	return p.Name, true
}

// indexOf returns the reader of a unique index of the store.
func indexOf(e *env) *secondaryindex.Reader[person] {
	return e.store.Views()[0].(*secondaryindex.Index[person]).On(e.store)
}

// lookupOf returns the reader of an index with lookup rows.
func lookupOf(e *env) *secondaryindex.LookupReader[person] {
	ix := secondaryindex.Lookup("lookup", nil, func(p *person) []string { return []string{p.Name} }, nil)
	store := assert.Must(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: []patterns.View[person]{ix}}))(e.t)
	_, _ = store.Put(e.t.Context(), good("looked up"))
	return ix.On(store)
}

// sweeperOf returns the sweeper of entities that expire.
func sweeperOf(e *env) *expiry.Sweeper[person] {
	x := expiry.At("expiry", nil, func(*person) time.Time { return time.Now().Add(-time.Hour) }, nil)
	store := assert.Must(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: []patterns.View[person]{x}}))(e.t)
	_, _ = store.Put(e.t.Context(), good("expired"))
	return x.On(store)
}

// feed returns the feed of the journal.
func (e *env) feed() *journal.Feed {
	if e.ownFeed == nil {
		e.ownFeed = assert.Must(journal.NewFeed(e.queue("feed"), bird, nil))(e.t)
	}
	return e.ownFeed
}

// changesOf returns the journal of a store.
func changesOf(e *env) *journal.Changes[person] {
	j := journal.Of("journal", &journal.Options[person]{Keep: time.Hour, Feeds: []*journal.Feed{e.feed()}, FeedKeep: time.Hour})
	store := assert.Must(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: []patterns.View[person]{j}}))(e.t)
	_, _ = store.Put(e.t.Context(), good("recorded"))
	return j.On(store)
}

// lists returns a list in the table and one in a blob, with their store.
func lists(e *env) []*indexentity.Reader[person] {
	local := indexentity.Intra("list", nameOf, nil)
	inBlob := indexentity.InterBlob("blob", e.bin, nameOf, nil)
	store := assert.Must(patterns.NewStore(e.stamped, &patterns.StoreOptions[person]{Views: []patterns.View[person]{local, inBlob}, Outbox: e.outbox}))(e.t)
	_, _ = store.Insert(e.t.Context(), good("listed"))
	_ = e.outbox.Work(e.t.Context(), store.Handle)
	return []*indexentity.Reader[person]{local.On(store), inBlob.On(store)}
}

// payload is a message that can be impossible to write.
type payload struct {
	Text    string
	Quoting quoting
}

func outbox(e *env) *eventual.Outbox {
	return assert.Must(eventual.NewOutbox(e.main, "", nil))(e.t)
}

// otherOutbox sends messages that no worker takes: their IDs are canaries, which events contain.
func otherOutbox(e *env) *eventual.Outbox {
	return assert.Must(eventual.NewOutbox(e.queue("other"), "", nil))(e.t)
}

func claimsOf(e *env) *eventual.Claims {
	return assert.Must(eventual.NewClaims(e.bin, nil))(e.t)
}

func leaseOf(e *env) *eventual.Lease {
	return assert.Must(eventual.NewLease(e.people.Client(), keys.Key{Partition: bird, Row: "lease"}, nil))(e.t)
}

// quotingKey is a wrapping key whose errors quote the key.
type quotingKey struct{}

func (quotingKey) Wrap(_ context.Context, key []byte) ([]byte, error) {
	return nil, fmt.Errorf("%s: no room for %x", bird, key)
}

func (quotingKey) Unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	return nil, fmt.Errorf("%s: no key in %x", bird, wrapped)
}

func envelopeOf(e *env) *encryption.Envelope {
	return assert.Must(encryption.NewEnvelope(e.people.Client(), quotingKey{}, nil))(e.t)
}

func poisonQueue(e *env) *eventual.PoisonQueue {
	return assert.Must(eventual.NewPoisonQueue(e.main, e.poison, nil))(e.t)
}

// inTwoRegions returns a table whose secondary has no rows and is hostile, and whose primary is
// hostile or fails.
func inTwoRegions(e *env, down bool) *regions.Table[person] {
	send := harness.Transport(func(req *http.Request) (*http.Response, error) {
		if secondary := strings.Contains(req.URL.Host, "-secondary"); !secondary && down {
			return nil, errors.Join(&quotingError{bird})
		}
		return e.world.Do(req)
	})
	opts := &aztables.ClientOptions{}
	opts.Transport, opts.Retry.MaxRetries = send, -1
	new(regions.Pair).Attach(&opts.ClientOptions)
	service := assert.Must(aztables.NewServiceClientFromConnectionString(storagetest.Start(nil).ConnectionString(), opts))(e.t)
	rows := assert.Must(patterns.NewTable[person](service.NewClient("people"), nil))(e.t)
	return assert.Must(regions.NewTable(rows, nil))(e.t)
}

// sharded returns a table and a store in two accounts. With an unhealthy network they have no directory.
func sharded(e *env) (*shards.Shards, *shards.Table[person], *shards.Store[person]) {
	s := assert.Must(shards.New([]shards.Account{{Name: bird, Tables: e.service}, {Name: bird + "2", Tables: e.service, Table: "sharded2"}}, "sharded", nil))(e.t)
	_ = s.Create(e.t.Context())
	table := assert.Must(shards.NewTable[person](s, nil))(e.t)
	store := assert.Must(shards.NewStore(table, nil))(e.t)
	return s, table, store
}

// fullWriter writes nothing.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func birdSnapshot(e *env) *heat.Snapshot {
	return assert.Must(heat.Load(strings.NewReader(`{"version":1,"taken":"2026-01-01T00:00:00Z","ranges":[{"from":"`+bird+`"}],"rows":[{"key":"`+bird+`"}]}`), nil))(e.t)
}

type layoutKey struct {
	Name string
	N    uint32 `key:"digits=4"`
}

func layout(e *env) *keys.Layout[layoutKey] {
	return assert.Must(keys.NewLayout[layoutKey](nil))(e.t)
}

// receivers are the values whose methods are called. A batch is committed once, so there are several.
func receivers(e *env) []any {
	ctx := e.t.Context()
	broken, quoted := e.newStore(true, e.outbox), e.newStore(false, quotingQueue{e.outbox})
	found := []any{
		badKey, keys.Key{Partition: repeated(2000)}, layout(e), new(keys.Spread),
		badQuery, query.Prop("Name").Eq(bird + "\xff"), query.Prop("At").Eq(farTime), query.Prop("N").In(), query.Prop("Name").Prefix(bird + "\xff"), query.Prop("N").Eq(bird),
		query.Explain(query.Prop("Name").Eq(bird)),
		access.Between(theKey, keys.Key{Partition: "a"}), access.Partition(badKey.Row), access.Rows(badKey.Row, keys.Prefix(bird)), access.Token{},
		e.people, e.stamped, e.keyed, reader(e), e.store, broken, quoted,
		e.people.Batch().Insert(good("x")).Insert(good(bird)), e.people.Batch().Insert(good("x")).Insert(good("x")), e.people.Batch().Insert(bad()[1]),
		e.people.Batch().Delete(theKey, etag), e.people.Batch().Delete(badKey, etag), e.people.Batch().Insert(good("x")).Insert(&person{PartitionKey: digits, RowKey: bird}),
		e.stamped.Batch().Insert(good(bird)).Insert(good("y")), patterns.AddTo(e.people.Batch(), e.keyed, patterns.InsertOp(good(bird))),
		e.store.Batch().Insert(good("batch")).Insert(good("duplicate")), e.store.Batch().Insert(good("a")).Insert(good("b")),
		families(e), seriesOf(e), entities(e), periods(e), logOf(e), wide(e), documents(e), documentsWith(e, quotingQueue{e.outbox}), otherOutbox(e), new(eventual.Outbox),
		poisonQueue(e), claimsOf(e), leaseOf(e), envelopeOf(e), new(eventual.Worker), birdSnapshot(e), inTwoRegions(e, false), inTwoRegions(e, true),
		e.store.Views()[0],
	}
	for _, s := range []*patterns.Store[person]{e.store, broken, quoted} {
		found = append(found, s.Batch().Update(storedKey, func(p *person) error { p.Name += digits; return nil }).Delete(theKey))
	}
	for _, p := range append(bad(), good(bird), good("new")) {
		found = append(found, e.store.Batch().Insert(good("batch")).Put(p),
			families(e).Transaction().Parent(patterns.InsertOp(p)).Child(patterns.InsertOp(good("c"))),
			entities(e).Transaction().Insert(theKey, p).Delete(badKey, badETag))
	}
	for _, i := range items(e) {
		found = append(found, e.store.Batch().Insert(good("batch")).DeleteItem(i))
	}
	found = append(found, indexOf(e), lookupOf(e), sweeperOf(e), changesOf(e))
	for _, r := range lists(e) {
		found = append(found, r)
	}
	list := indexentity.Intra("list", nameOf, nil)
	found = append(found, list, indexentity.Intra("list", func(*person) (string, bool) { return "", true }, &indexentity.Options[person]{Property: "a b"}),
		secondaryindex.Intra[person]("local", nil, nil), secondaryindex.Lookup[person]("lookup", nil, nil, nil), expiry.At[person](bird, nil, nil, nil), journal.Of(bird, &journal.Options[person]{Keep: -1}))
	s, table, store := sharded(e)
	found = append(found, s, table, store)
	if r, err := reindex.Survey(ctx, e.stamped.Client(), nil); err == nil {
		found = append(found, r)
	}
	if runs, err := reindex.NewRuns(e.store, e.service.NewClient("runs"), &reindex.RunsOptions{Enqueue: func(context.Context, reindex.Job) error { return nil }}); err == nil {
		_, _ = runs.Create(ctx), runs.Verify(ctx, bird, nil)
		found = append(found, runs)
	}
	return found
}

// readers returns files that cannot be read.
func readers() (found []io.Reader) {
	for _, text := range append(bodies(), []byte(`{"version":"`+bird+`"}`), []byte(`{"version":2,"ranges":[{"from":"`+bird+`"}]}`)) {
		found = append(found, bytes.NewReader(text))
	}
	return append(found, brokenReader{})
}
