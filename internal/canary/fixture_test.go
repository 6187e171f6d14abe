package canary_test

import (
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// quoting is a type whose methods fail with an error that quotes the value.
type quoting string

func (q quoting) MarshalText() ([]byte, error) {
	if q == bird {
		return nil, fmt.Errorf("cannot write %q", string(q))
	}
	return []byte(q), nil
}

func (q *quoting) UnmarshalText(text []byte) error {
	if string(text) == "fine" {
		*q = "fine"
		return nil
	}
	return fmt.Errorf("cannot read %q", text)
}

// person is a row. Every type of field reads and writes its value in another way.
type person struct {
	PartitionKey, RowKey string
	Name                 string
	N                    int64
	At                   time.Time `table:",omitempty"`
	Address              netip.Addr
	Big                  big.Int
	ID                   [16]byte
	Raw                  []byte
	Link                 *url.URL `table:",json"`
	Quoting              quoting
}

// Key returns the key of p.
func (p person) Key() keys.Key { return keys.Key{Partition: p.PartitionKey, Row: p.RowKey} }

// good returns a person that can be stored.
func good(row string) *person {
	p := &person{PartitionKey: bird, RowKey: row, Name: bird, N: 8675309421, Address: netip.MustParseAddr(address), Raw: []byte(bird), Quoting: "fine"}
	p.At, _ = time.Parse(time.RFC3339, day)
	p.Big.SetString(digits, 10)
	p.Link, _ = url.Parse("https://" + bird + "/")
	return p
}

// bad returns persons that are refused before they are sent.
func bad() []*person {
	slash, utf, long, text, year := good(bird), good(bird), good(bird), good(bird), good(bird)
	slash.RowKey = bird + "/" + digits
	utf.Name = bird + "\xff"
	long.Name = repeated(40 << 10)
	text.Quoting = bird
	year.At = time.Date(1500, 1, 1, 9, 10, 11, 0, time.UTC)
	tooLong := good(repeated(2000))
	return []*person{slash, utf, long, text, year, tooLong, nil}
}

// repeated returns a text of at least n bytes.
func repeated(n int) string {
	text := make([]byte, 0, n+len(bird))
	for len(text) < n {
		text = append(text, bird...)
	}
	return string(text)
}

var (
	theKey   = keys.Key{Partition: bird, Row: bird}
	badKey   = keys.Key{Partition: bird, Row: bird + "#\x01" + digits}
	etag     = azcore.ETag(`W/"datetime'2031-07-08T09%3A10%3A11Z'"`)
	badETag  = azcore.ETag(bird)
	byName   = query.PartitionKey.Eq(bird)
	badQuery = query.Prop("Name").Eq(struct{ X string }{bird})
	cursor   = "azp" + bird
	someTime = func() time.Time { t, _ := time.Parse(time.RFC3339, day); return t }()
)

// clients are the clients of one account, made while the network was healthy.
type clients struct {
	people  *patterns.Table[person]
	stamped *patterns.Table[person]
	keyed   *patterns.Table[person] // its key function quotes the value
	item    patterns.Item[person]
	main    *azqueue.QueueClient
	poison  *azqueue.QueueClient
	bin     *container.Client
	store   *patterns.Store[person]
	outbox  *harness.OutboxQueue
	found   []any // what callbacks were called with
}

// prepare makes the tables and rows.
func (e *env) prepare() {
	t, ctx := e.t, e.t.Context()
	people := e.table("people")
	var err error
	e.people = assert.Must(patterns.NewTable[person](people, nil))(t)
	e.stamped = assert.Must(patterns.NewTable(people, &patterns.TableOptions[person]{StampWrites: true}))(t)
	e.keyed, err = patterns.NewTable(people, &patterns.TableOptions[person]{Key: func(p *person) (keys.Key, error) {
		return keys.Key{}, fmt.Errorf("no key for %s", p.Name)
	}})
	assert.NoError(t, err)
	e.item = assert.Must(e.people.Insert(ctx, good(bird)))(t)
	foreign := []byte(`{"PartitionKey":"` + bird + `","RowKey":"foreign","Name":"` + bird + `","N":"` + bird + `","At":"` + bird +
		`","Address":"` + bird + `","Big":"` + bird + `","ID":"` + bird + `","Raw":"` + bird + `","Link":"` + bird + `","Quoting":"` + bird + `"}`)
	assert.NoError(t, assert.ErrorOf(people.AddEntity(ctx, foreign, nil)))
	for _, field := range []string{"N", "At", "Address", "Big", "ID", "Raw", "Link", "Quoting"} {
		row := `{"PartitionKey":"` + bird + `","RowKey":"foreign-` + field + `","` + field + `":"` + bird + `"}`
		assert.NoError(t, assert.ErrorOf(people.AddEntity(ctx, []byte(row), nil)))
	}
	e.main, e.poison, e.bin = e.queue("main"), e.queue("poison"), e.blobs("bin")
	e.prepareStore()
}

// foreignRows are the rows that cannot be decoded into a person.
func foreignRows() (found []keys.Key) {
	for _, field := range []string{"", "-N", "-At", "-Address", "-Big", "-ID", "-Raw", "-Link", "-Quoting"} {
		found = append(found, keys.Key{Partition: bird, Row: "foreign" + field})
	}
	return found
}

// take keeps what a callback was called with, which is searched too.
func (e *env) take(v any) { e.found = append(e.found, v) }

// taken returns what the callbacks were called with since the last time.
func (e *env) taken() []any {
	found := e.found
	e.found = nil
	return found
}
