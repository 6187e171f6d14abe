package patterns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// weirdKeys are legal as partition key and as row key.
var weirdKeys = []string{
	"plain", "", "O'Brien", "''", "'", "😀", "100%", "%27", "%2F", "%zz", "a+b", "a b", " ", " edge ", ".", "..", "(x)", "a,RowKey='b'",
	"~!@$^*()[]{};:,.<>|`", "&=&", "é\u0301", "\u00a0", "\ufeffx", "\u2028", "$batch", "\uffff", "{}", "POST",
	strings.Repeat("x", 512), strings.Repeat("😀", 256), strings.Repeat("'", 512),
}

// azuriteMisreads reports whether Azurite parses the address of key in a transaction wrongly:
// its patterns end at a line separator, and at a comma in the partition key.
func azuriteMisreads(key keys.Key) bool {
	return strings.Contains(key.Partition+key.Row, "\u2028") || strings.Contains(key.Partition, ",RowKey=")
}

// needsAccelerate reports whether aztables cannot address the row, alone or in a transaction.
func needsAccelerate(key keys.Key, batch bool) bool {
	return key.Partition == "" || batch && strings.Contains(key.Partition+key.Row, "'")
}

func TestEveryLegalKeyWorksInEveryOperation(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		type operation struct {
			name    string
			insert  bool // addressed by the table alone
			batch   bool
			perform func(v *counter, item patterns.Item[counter]) error
		}
		commit := func(batch *patterns.Batch[counter]) error {
			_, err := batch.Commit(ctx)
			return err
		}
		operations := []operation{
			{"insert", true, false, func(v *counter, _ patterns.Item[counter]) error { _, err := table.Insert(ctx, v); return err }},
			{"merge", false, false, func(_ *counter, i patterns.Item[counter]) error { _, err := table.Merge(ctx, i); return err }},
			{"replace", false, false, func(_ *counter, i patterns.Item[counter]) error { _, err := table.Replace(ctx, i); return err }},
			{"update", false, false, func(v *counter, _ patterns.Item[counter]) error {
				_, err := table.Update(ctx, v.Key(), addOne)
				return err
			}},
			{"upsert merge", false, false, func(v *counter, _ patterns.Item[counter]) error {
				_, err := table.Upsert(ctx, v, patterns.Merge)
				return err
			}},
			{"upsert replace", false, false, func(v *counter, _ patterns.Item[counter]) error {
				_, err := table.Upsert(ctx, v, patterns.Replace)
				return err
			}},
			{"batch merge", false, true, func(_ *counter, i patterns.Item[counter]) error { return commit(table.Batch().Merge(i)) }},
			{"batch replace", false, true, func(_ *counter, i patterns.Item[counter]) error { return commit(table.Batch().Replace(i)) }},
			{"batch upsert", false, true, func(v *counter, _ patterns.Item[counter]) error {
				return commit(table.Batch().Upsert(v, patterns.Merge))
			}},
			{"delete", false, false, func(v *counter, i patterns.Item[counter]) error { return table.Delete(ctx, v.Key(), i.ETag) }},
			{"batch insert", true, true, func(v *counter, _ patterns.Item[counter]) error { return commit(table.Batch().Insert(v)) }},
			{"batch delete", false, true, func(v *counter, i patterns.Item[counter]) error {
				return commit(table.Batch().Delete(v.Key(), i.ETag))
			}},
		}
		try := func(key keys.Key) {
			var item patterns.Item[counter]
			n := int64(0)
			for _, op := range operations {
				if op.batch && !b.InProcess() && azuriteMisreads(key) {
					continue
				}
				n++
				item.Value = counter{key.Partition, key.Row, n}
				refused := !b.Accelerated && !op.insert && needsAccelerate(key, op.batch)
				b.ResetRequests()
				v := item.Value
				err := op.perform(&v, item)
				switch {
				case refused && !errors.Is(err, patterns.ErrNeedsAccelerate):
					t.Errorf("%q %s: got %v, want a refusal", key, op.name, err)
				case refused && b.Requests().Count("Table.*") > b.Requests().Count("Table.Query"):
					t.Errorf("%q %s: sent %v", key, op.name, b.Requests())
				case refused:
					assert.WantHidden(t, err, nonTrivial(key)...)
				case err != nil:
					t.Errorf("%.20q/%.20q %s: %+v", key.Partition, key.Row, op.name, err)
					return
				}
				item, err = table.Get(ctx, key)
				gone := strings.HasSuffix(op.name, "delete") && !refused
				switch {
				case gone:
					assert.WantError(t, err, patterns.ErrNotFound)
				case op.name == "batch insert" && refused: // the row still exists
				case err != nil && !errors.Is(err, patterns.ErrNotFound), err == nil && item.Key != key:
					t.Errorf("%.20q/%.20q after %s: read %+v, %v", key.Partition, key.Row, op.name, item.Key, err)
					return
				case err == nil && !refused && item.Value.N != n && op.name != "update":
					t.Errorf("%.20q/%.20q: %s was not applied", key.Partition, key.Row, op.name)
				}
				if !b.Accelerated && key.Partition == "" && op.name == "delete" {
					return // the row cannot be deleted
				}
			}
		}
		for _, text := range weirdKeys {
			try(keys.Key{Partition: "p", Row: text})
			try(keys.Key{Partition: text, Row: "r"})
		}
		try(keys.Key{Partition: "it's", Row: "it's"})
		try(keys.Key{})
	})
}

// nonTrivial returns the parts of a key that a message does not contain by accident.
func nonTrivial(key keys.Key) []string {
	var parts []string
	for _, s := range []string{key.Partition, key.Row} {
		if len(s) > 3 {
			parts = append(parts, s)
		}
	}
	return parts
}

func TestIllegalKeysAreRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		for _, text := range []string{
			"SECRET/", `SECRET\`, "SECRET#", "SECRET?", "SECRET\x00", "SECRET\t", "SECRET\x7f", "SECRET\u0085", "SECRET\xff",
			strings.Repeat("S", 513), "S" + strings.Repeat("😀", 256),
		} {
			for _, key := range []keys.Key{{Partition: text, Row: "r"}, {Partition: "p", Row: text}} {
				v := counter{key.Partition, key.Row, 1}
				item := patterns.Item[counter]{Value: v, Key: key, ETag: azcore.ETagAny}
				_, insertErr := table.Insert(ctx, &v)
				_, upsertErr := table.Upsert(ctx, &v, patterns.Merge)
				_, getErr := table.Get(ctx, key)
				_, replaceErr := table.Replace(ctx, item)
				_, mergeErr := table.Merge(ctx, item)
				_, updateErr := table.Update(ctx, key, addOne)
				_, batchErr := table.Batch().Insert(&v).Commit(ctx)
				_, keyErr := table.Key(&v)
				for what, err := range map[string]error{
					"insert": insertErr, "upsert": upsertErr, "get": getErr, "replace": replaceErr, "merge": mergeErr, "update": updateErr,
					"delete": table.Delete(ctx, key, ""), "batch": batchErr, "key": keyErr,
				} {
					var bad *keys.Error
					part := "RowKey"
					if key.Partition == text {
						part = "PartitionKey"
					}
					if !errors.Is(err, patterns.ErrBadKey) || !errors.As(err, &bad) || bad.Part != part {
						t.Errorf("%s of %.10q: got %v", what, key, err)
					}
					assert.WantHidden(t, err, "SECRET", "SSS", "😀")
				}
			}
		}
		b.WantRequestCount(t, 0)
	})
}

func TestAKeyThatIsTooLongIsABadKey(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		long := keys.Key{Partition: "p", Row: strings.Repeat("x", keys.MaxUnits+1)}
		_, err := table.Get(t.Context(), long)
		var bad *keys.Error
		if !errors.Is(err, patterns.ErrBadKey) || errors.Is(err, patterns.ErrTooLarge) || !errors.As(err, &bad) || bad.Reason != keys.TooLong {
			t.Errorf("got %v", err)
		}
	})
}

func TestErrNeedsAccelerateCostsAtMostOneRequest(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil) // nothing sent yet
		quoted := counter{"it's", "0", 1}
		_, err := table.Batch().Upsert(&quoted, patterns.Replace).Commit(ctx)
		if b.Accelerated {
			assert.Equal(t, err, nil)
			assert.Equal(t, harness.Get(t, table, quoted.Key()).Value, quoted, "read")
			return
		}
		var f *patterns.BatchError
		if !errors.Is(err, patterns.ErrNeedsAccelerate) || !errors.As(err, &f) || f.Index != 0 || f.Status != 0 {
			t.Errorf("got %+v", err)
		}
		b.WantRequestCount(t, 1)
		_, err = table.Batch().Insert(&counter{"it's", "1", 1}).Upsert(&quoted, patterns.Replace).Commit(ctx)
		if !errors.Is(err, patterns.ErrNeedsAccelerate) || !errors.As(err, &f) || f.Index != 1 {
			t.Errorf("got %+v", err)
		}
		assert.WantError(t, table.Delete(ctx, keys.Key{Row: "r"}, ""), patterns.ErrNeedsAccelerate)
		b.WantRequestCount(t, 0)
	})
}
