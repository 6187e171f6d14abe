package patterns_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// wide is a value whose properties are chosen at run time.
type wide = map[string]any

func wideTable(t testing.TB, b *harness.Backend) *patterns.Table[wide] {
	return newTable(t, b.Table(t), &patterns.TableOptions[wide]{Keyless: true})
}

func TestValuesThatCannotBeStoredAreRefusedByName(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := wideTable(t, b)
		many := wide{}
		for i := range 253 {
			many[fmt.Sprintf("P%03d", i)] = int32(i)
		}
		heavy := wide{}
		for i := range 20 {
			heavy[fmt.Sprintf("P%03d", i)] = strings.Repeat("x", 32_000)
		}
		for _, c := range []struct {
			name     string
			value    wide
			property string // that the message names
			is       error
		}{
			{"253rd property", many, "", patterns.ErrTooLarge},
			{"1 MiB", heavy, "", patterns.ErrTooLarge},
			{"text", wide{"Text": strings.Repeat("x", 32_769)}, "Text", patterns.ErrTooLarge},
			{"binary", wide{"Data": make([]byte, 64<<10+1)}, "Data", patterns.ErrTooLarge},
			{"year 1600", wide{"Born": time.Date(1600, 12, 31, 23, 59, 59, 0, time.UTC)}, "Born", nil},
			{"year 10000", wide{"Born": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}, "Born", nil},
			{"invalid UTF-8", wide{"Text": "SECRET\xff"}, "Text", nil},
			{"name with a dash", wide{"a-b": int32(1)}, "a-b", nil},
			{"name of 256", wide{strings.Repeat("n", 256): int32(1)}, "", nil},
			{"unsigned too wide", wide{"U": uint64(math.MaxUint64)}, "U", nil},
			{"channel", wide{"C": make(chan int)}, "C", nil},
		} {
			op := patterns.UpsertOp(&c.value, patterns.Replace).At(tally)
			_, doErr := table.Do(ctx, op)
			_, batchErr := table.Batch().Add(op).Commit(ctx)
			for _, err := range []error{doErr, batchErr} {
				if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(fmt.Sprint(err), c.property) {
					t.Errorf("%s: got %v", c.name, err)
				}
				var p *patterns.PropertyError
				if c.property != "" && (!errors.As(err, &p) || p.Property != c.property) {
					t.Errorf("%s: got %#v", c.name, err)
				}
				silent(t, err, "SECRET", "hits")
			}
		}
		cost(t, b, 0)
	})
}

func TestTypesThatCannotBeStoredAreRefusedByField(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		type badField struct {
			PartitionKey, RowKey string
			Wrong                chan int
		}
		_, err := patterns.NewTable[badField](client, nil)
		if err == nil || !strings.Contains(err.Error(), "Wrong") {
			t.Errorf("got %v", err)
		}
		_, err = patterns.NewTable[struct{ A int32 }](client, nil)
		wantError(t, err, patterns.ErrBadKey)
		_, err = patterns.NewTable[int](client, nil)
		if err == nil {
			t.Error("a table of int")
		}
		_, err = patterns.NewTable[person](nil, nil)
		wantError(t, err, patterns.ErrNil)
		cost(t, b, 0)
	})
}

func TestNilIsAnError(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		_, insertErr := table.Insert(ctx, nil)
		_, upsertErr := table.Upsert(ctx, nil, patterns.Merge)
		_, updateErr := table.Update(ctx, tally, nil)
		_, keyErr := table.Key(nil)
		_, bulkErr := table.Bulk(ctx, nil, nil)
		_, batchErr := table.Batch().Insert(nil).Commit(ctx)
		for what, err := range map[string]error{"insert": insertErr, "upsert": upsertErr, "update": updateErr, "key": keyErr, "bulk": bulkErr, "batch": batchErr} {
			if !errors.Is(err, patterns.ErrNil) {
				t.Errorf("%s: got %v", what, err)
			}
		}
		_, err := table.Do(ctx, patterns.Op[person]{})
		wantError(t, err, patterns.ErrNil)
		cost(t, b, 0)
	})
}

func TestAModeThatIsNoneIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		ann := somebody("ann")
		for _, mode := range []patterns.Mode{-1, 2} {
			_, upsertErr := table.Upsert(t.Context(), &ann, mode)
			_, batchErr := table.Batch().Upsert(&ann, mode).Commit(t.Context())
			for _, err := range []error{upsertErr, batchErr} {
				if err == nil || !strings.Contains(err.Error(), "mode") {
					t.Errorf("mode %d: got %v", mode, err)
				}
			}
		}
		cost(t, b, 0)
	})
}

func TestAKeyFunctionsErrorComesBack(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		own := errors.New("own")
		table := newTable(t, b.Table(t), &patterns.TableOptions[person]{Key: func(*person) (keys.Key, error) { return keys.Key{}, own }})
		v := somebody("ann")
		_, err := table.Insert(t.Context(), &v)
		wantError(t, err, own)
		cost(t, b, 0)
	})
}

func TestConditionsThatCannotBeSentAreRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := people(t, b)
		ann := somebody("ann")
		for _, etag := range []azcore.ETag{"", "\r\nX-Evil: 1", "é", "\x00"} {
			item := patterns.Item[person]{Value: ann, Key: ann.key(), ETag: etag}
			_, replaceErr := table.Replace(ctx, item)
			_, mergeErr := table.Merge(ctx, item)
			errs := []error{replaceErr, mergeErr}
			if etag != "" {
				errs = append(errs, table.Delete(ctx, ann.key(), etag))
			}
			for _, err := range errs {
				wantError(t, err, patterns.ErrBadETag)
				silent(t, err, "Evil", "é")
			}
		}
		cost(t, b, 0)
	})
}

func TestAnEndedContextSendsNothing(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := people(t, b)
		item := insert(t, table, somebody("ann"))
		ann := item.Value
		b.ResetRequests()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
		defer cancelLate()
		for ctx, want := range map[context.Context]error{ctx: context.Canceled, late: context.DeadlineExceeded} {
			_, insertErr := table.Insert(ctx, &ann)
			_, upsertErr := table.Upsert(ctx, &ann, patterns.Merge)
			_, getErr := table.Get(ctx, ann.key())
			_, replaceErr := table.Replace(ctx, item)
			_, mergeErr := table.Merge(ctx, item)
			_, updateErr := table.Update(ctx, ann.key(), func(*person) error { return nil })
			_, batchErr := table.Batch().Insert(&ann).Commit(ctx)
			_, emptyErr := table.Batch().Commit(ctx)
			for what, err := range map[string]error{
				"insert": insertErr, "upsert": upsertErr, "get": getErr, "replace": replaceErr, "merge": mergeErr, "update": updateErr,
				"delete": table.Delete(ctx, ann.key(), ""), "batch": batchErr, "empty batch": emptyErr, "create": table.Create(ctx),
			} {
				if !errors.Is(err, want) || errors.Is(err, patterns.ErrOutcomeUnknown) {
					t.Errorf("%s: got %v", what, err)
				}
				silent(t, err, "ann", "sales")
			}
		}
		cost(t, b, 0)
	})
}

func TestMalformedRowsAreErrorsThatNameTheProperty(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		for row, text := range map[string]string{
			"text":   `"Age":"SECRET"`,
			"double": `"Age":1.5`,
			"wide":   `"Age@odata.type":"Edm.Int64","Age":"9999999999"`,
		} {
			_, err := client.AddEntity(t.Context(), fmt.Appendf(nil, `{"PartitionKey":"sales","RowKey":%q,%s}`, row, text), nil)
			if err != nil {
				t.Fatal(err)
			}
		}
		table := newTable[person](t, client, nil)
		for _, row := range []string{"text", "double", "wide"} {
			b.ResetRequests()
			_, err := table.Get(t.Context(), keys.Key{Partition: "sales", Row: row})
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != "Age" {
				t.Errorf("%s: got %v", row, err)
			}
			silent(t, err, "SECRET", "9999", "sales")
			cost(t, b, 1) // a row that cannot be read is not read again
		}
	})
}

func TestMessagesOfTheServiceHoldNoKeys(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		missing := newTable[counter](t, b.Service(t).NewClient(harness.UniqueName()), nil)
		table := newTable[counter](t, b.Table(t), nil)
		v := counter{"SECRETp", "SECRETr", 1}
		item := insert(t, table, v)
		_, exists := table.Insert(ctx, &v)
		_, stale := table.Replace(ctx, patterns.Item[counter]{Value: v, Key: v.key(), ETag: `W/"datetime'2000-01-01T00%3A00%3A00.0000000Z'"`})
		_, notFound := table.Get(ctx, keys.Key{Partition: "SECRETp", Row: "SECRETx"})
		_, noTable := missing.Insert(ctx, &v)
		_, noTableGet := missing.Get(ctx, v.key())
		for want, err := range map[error]error{patterns.ErrExists: exists, patterns.ErrConflict: stale, patterns.ErrNotFound: notFound, patterns.ErrTableNotFound: noTable} {
			wantError(t, err, want)
			silent(t, err, "SECRET")
			var sdk *azcore.ResponseError
			if !errors.As(err, &sdk) {
				t.Errorf("%v holds no ResponseError", err)
			}
			if text := fmt.Sprintf("%+v", err); !strings.Contains(text, fmt.Sprint(sdk.StatusCode)) || text == err.Error() {
				t.Errorf("%%+v gives %q", text)
			}
		}
		wantError(t, noTableGet, patterns.ErrTableNotFound)
		if item.ETag == "" || reflect.DeepEqual(item, patterns.Item[counter]{}) {
			t.Error("nothing was written")
		}
	})
}
