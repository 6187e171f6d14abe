package patterns_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestErrorsOfTheServiceContainNoKeys(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		ctx := t.Context()
		missing := harness.NewTable[counter](t, b.Service(t).NewClient(harness.UniqueName()), nil)
		table := harness.NewTable[counter](t, b.Table(t), nil)
		v := counter{"SECRETp", "SECRETr", 1}
		item := harness.Insert(t, table, v)
		_, exists := table.Insert(ctx, &v)
		_, stale := table.Replace(ctx, patterns.Item[counter]{Value: v, Key: v.Key(), ETag: `W/"datetime'2000-01-01T00%3A00%3A00.0000000Z'"`})
		_, notFound := table.Get(ctx, keys.Key{Partition: "SECRETp", Row: "SECRETx"})
		_, noTable := missing.Insert(ctx, &v)
		_, noTableGet := missing.Get(ctx, v.Key())
		for want, err := range map[error]error{patterns.ErrExists: exists, patterns.ErrConflict: stale, patterns.ErrNotFound: notFound, patterns.ErrTableNotFound: noTable} {
			assert.WantError(t, err, want)
			assert.WantHidden(t, err, "SECRET")
			var sdk *azcore.ResponseError
			if !errors.As(err, &sdk) {
				t.Errorf("%v holds no ResponseError", err)
			}
			if text := fmt.Sprintf("%+v", err); !strings.Contains(text, fmt.Sprint(sdk.StatusCode)) || text == err.Error() {
				t.Errorf("%%+v prints %q", text)
			}
		}
		assert.WantError(t, noTableGet, patterns.ErrTableNotFound)
		if item.ETag == "" || reflect.DeepEqual(item, patterns.Item[counter]{}) {
			t.Error("nothing was written")
		}
	})
}

func TestThrottlingIsErrThrottled(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[counter](t, b.Table(t), nil)
		harness.Insert(t, table, counter{"hits", "0", 1})
		b.Fault(storagetest.On("Table.*").Status(http.StatusServiceUnavailable, "ServerBusy"))
		_, insertErr := table.Insert(t.Context(), &counter{"hits", "1", 1})
		_, getErr := table.Get(t.Context(), tally)
		_, batchErr := table.Batch().Upsert(&counter{"hits", "1", 1}, patterns.Merge).Commit(t.Context())
		for what, err := range map[string]error{"insert": insertErr, "get": getErr, "batch": batchErr} {
			if !errors.Is(err, patterns.ErrThrottled) || b.Accelerated && errors.Is(err, patterns.ErrOutcomeUnknown) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
