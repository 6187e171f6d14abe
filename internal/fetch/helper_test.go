package fetch

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/types"
	"github.com/azpatterns/azpatterns/query"
)

// reading is a table with the partitions p0, p1, …, of the rows r00, r01, … each, whose
// property N is the number of the row.
type reading struct {
	account *storagetest.Account
	client  *wire.Client
	source  *Source
	decoder entryDecoder
}

func newReading(t testing.TB, partitions, rows int) *reading {
	t.Helper()
	account := storagetest.Start(nil)
	var opts aztables.ClientOptions
	wire.Accelerate(&opts.ClientOptions)
	client := account.TablesWith(&opts).NewClient("Golden")
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for p := range partitions {
		for i := range rows {
			row := fmt.Sprintf(`{"PartitionKey":"p%d","RowKey":"r%02d","N":%d,"azp_note":"of r%02d"}`, p, i, i, i)
			if _, err := client.AddEntity(t.Context(), []byte(row), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	account.ResetLog()
	codec := edm.PropertiesCodec()
	// A client that has made no request, as in another process.
	fresh := wire.NewClient(account.TablesWith(&opts).NewClient("Golden"))
	return &reading{account, fresh, NewSource(fresh, codec), entryDecoder{codec}}
}

func (r *reading) plan(t testing.TB, f query.Filter, o *types.QueryOptions) *ReadPlan {
	t.Helper()
	p, err := r.source.Plan(f, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// codecOf returns the codec of T.
func codecOf[T any](t testing.TB) *edm.Codec {
	t.Helper()
	codec, err := edm.CodecFor(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

// keysOf returns the keys of all rows that Run reads.
func (r *reading) keysOf(t testing.TB, p *ReadPlan) (all []keys.Key) {
	t.Helper()
	p.Run(t.Context(), r.decoder, func(rows Rows, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, keysIn(rows)...)
		return true
	})
	return all
}

func keysIn(rows Rows) (all []keys.Key) {
	for i := range rows.Len() {
		all = append(all, rows.Key(i))
	}
	return all
}

// wantRequests asserts the number of requests since the last call.
func (r *reading) wantRequests(t testing.TB, want int) {
	t.Helper()
	if log := r.account.Log(); len(log) != want {
		t.Errorf("%d requests, want %d:\n%v", len(log), want, log)
	}
	r.account.ResetLog()
}
