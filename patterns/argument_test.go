package patterns_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
)

// wide is an entity whose properties are chosen at run time.
type wide = map[string]any

func wideTable(t testing.TB, b *harness.Backend) *patterns.Table[wide] {
	return harness.NewTable(t, b.Table(t), &patterns.TableOptions[wide]{Keyless: true})
}

func TestAnInvalidValueIsRefusedWithItsProperty(t *testing.T) {
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
			property string // in the message
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
				assert.WantHidden(t, err, "SECRET", "hits")
			}
		}
		b.WantRequestCount(t, 0)
	})
}

func TestNilArgumentsAreErrNil(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.NewTable[counter](t, b.Table(t), nil)
		_, insertErr := table.Insert(ctx, nil)
		_, upsertErr := table.Upsert(ctx, nil, patterns.Merge)
		_, updateErr := table.Update(ctx, tally, nil)
		_, keyErr := table.Key(nil)
		_, bulkErr := table.Bulk(ctx, nil, nil)
		_, batchErr := table.Batch().Insert(nil).Commit(ctx)
		_, zeroErr := table.Do(ctx, patterns.Op[counter]{})
		_, zeroInBatchErr := table.Batch().Add(patterns.Op[counter]{}).Commit(ctx)
		_, viewErr := patterns.NewStore(table, &patterns.StoreOptions[counter]{Views: []patterns.View[counter]{patterns.ViewOf[counter]("v", patterns.Shape{}, nil)}})
		if named := (*patterns.ViewError)(nil); !errors.As(viewErr, &named) || named.View != "v" || !errors.Is(viewErr, patterns.ErrBadView) {
			t.Errorf("view without a function: %v", viewErr)
		}
		_, projectErr := patterns.Project[counter, counter](nil)
		for what, err := range map[string]error{
			"insert": insertErr, "upsert": upsertErr, "update": updateErr, "key": keyErr, "bulk": bulkErr, "batch": batchErr,
			"zero operation": zeroErr, "zero operation in a batch": zeroInBatchErr, "project": projectErr, "view": viewErr,
		} {
			// Each part of the message has text: the operation is named.
			if text := fmt.Sprint(err); !errors.Is(err, patterns.ErrNil) || strings.Contains(text, ": :") || strings.HasPrefix(text, ":") || strings.Contains(text, "()") {
				t.Errorf("%s: got %v", what, err)
			}
		}
		b.WantRequestCount(t, 0)
	})
}

func TestAnInvalidModeIsRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		for _, mode := range []patterns.Mode{-1, 2} {
			_, upsertErr := table.Upsert(t.Context(), &ann, mode)
			_, batchErr := table.Batch().Upsert(&ann, mode).Commit(t.Context())
			for _, err := range []error{upsertErr, batchErr} {
				if err == nil || !strings.Contains(err.Error(), "mode") {
					t.Errorf("mode %d: got %v", mode, err)
				}
			}
		}
		b.WantRequestCount(t, 0)
	})
}

func TestInvalidETagsAreRefused(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		table := harness.People(t, b)
		ann := harness.NewPerson("ann")
		for _, etag := range []azcore.ETag{"", "\r\nX-Evil: 1", "é", "\x00"} {
			item := patterns.Item[harness.Person]{Value: ann, Key: ann.Key(), ETag: etag}
			_, replaceErr := table.Replace(ctx, item)
			_, mergeErr := table.Merge(ctx, item)
			errs := []error{replaceErr, mergeErr}
			if etag != "" {
				errs = append(errs, table.Delete(ctx, ann.Key(), etag))
			}
			for _, err := range errs {
				assert.WantError(t, err, patterns.ErrBadETag)
				assert.WantHidden(t, err, "Evil", "é")
			}
		}
		b.WantRequestCount(t, 0)
	})
}
