package oldprogram

import (
	"context"
	"reflect"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// editor changes rows by azpatterns. Values are of the new struct.
type editor interface {
	get(ctx context.Context, key keys.Key) (reflect.Value, error)

	// ways returns the ways to change a field. Those that merge cannot remove a property.
	ways(merging bool) []string
	change(ctx context.Context, way string, key keys.Key, property string, change func(reflect.Value)) error
}

// edit opens what a [patterns.Table] of the new struct is without its type parameter. A type parameter takes 0.4 s of the compiler's
// time for each type.
func (p *program) edit(client *aztables.Client) (editor, error) {
	codec, err := edm.CodecFor(p.new)
	if err != nil {
		return nil, err
	}
	rows, err := patterns.NewTable[patterns.Row](client, nil)
	if err != nil {
		return nil, err
	}
	t := &txn.Table{Client: wire.NewClient(client), Codec: codec, Zero: func() any { return reflect.New(p.new).Interface() }}
	t.Key = t.KeyFields
	return &rawEditor{t, rows}, nil
}

type rawEditor struct {
	table *txn.Table
	rows  *patterns.Table[patterns.Row]
}

func (e *rawEditor) get(ctx context.Context, key keys.Key) (reflect.Value, error) {
	r, err := e.table.Get(ctx, key)
	if err != nil {
		return reflect.Value{}, err
	}
	return reflect.ValueOf(r.Value).Elem(), nil
}

func (e *rawEditor) ways(merging bool) []string {
	if merging {
		return []string{"Merge", "Batch, Merge", "Bulk, Merge", "Only"}
	}
	return []string{"Update", "Replace", "Batch, Replace", "Bulk, Replace"}
}

func (e *rawEditor) change(ctx context.Context, way string, key keys.Key, property string, change func(reflect.Value)) error {
	if way == "Update" {
		_, err := e.table.Update(ctx, key, 16, func(v any) error {
			change(reflect.ValueOf(v).Elem())
			return nil
		})
		return err
	}
	r, err := e.table.Get(ctx, key)
	if err != nil {
		return err
	}
	change(reflect.ValueOf(r.Value).Elem())
	op := &txn.Op{Kind: wire.Replace, Value: r.Value, Key: r.Key, ETag: r.ETag, Origin: r.Origin}
	switch way {
	case "Merge", "Batch, Merge", "Bulk, Merge":
		op.Kind = wire.Merge
	case "Only":
		op.Kind = wire.Merge
		op.Only([]string{property})
	}
	switch way {
	case "Batch, Replace", "Batch, Merge":
		b := txn.NewBatch(e.table.Client)
		b.Add(e.table, op)
		_, err = b.Commit(ctx)
	case "Bulk, Replace", "Bulk, Merge":
		b := txn.NewBulk(e.table, 1, func(types.Progress) {}, func(_ int, _ keys.Key, _ *txn.Op, failure error) { err = failure })
		b.Add(ctx, op)
		b.Flush(ctx)
	default:
		_, err = e.table.Do(ctx, op)
	}
	return err
}
