package fetch_test

import (
	"strconv"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

type bulky struct {
	PartitionKey, RowKey string
	A, B, C, D, E, F     []byte
}

// Emulators send pages of any size.
func TestAPageLongerThanTheLimitIsReadInParts(t *testing.T) {
	acct, name := harness.NewAccount(t)
	writer := harness.NewTable[bulky](t, acct.TablesWith(harness.Accelerated()).NewClient(name), nil)
	part := make([]byte, 64<<10)
	for i := range 70 {
		harness.Insert(t, writer, bulky{"a", strconv.Itoa(100 + i), part, part, part, part, part, part})
	}
	for mode, accelerate := range map[string]func(*azcore.ClientOptions){
		"plain":       func(*azcore.ClientOptions) {},
		"accelerated": patterns.Accelerate,
	} {
		t.Run(mode, func(t *testing.T) {
			table := harness.NewTable[bulky](t, limited(t, acct, name, accelerate), nil)
			acct.ResetLog()
			rows := assert.All(t, table.Query(t.Context(), query.PartitionKey.Eq("a"), nil))
			assert.Equal(assert.Now(t), len(rows), 70)
			assert.Equal(t, len(rows[69].Value.F), len(part))
			// Pages of 1000 and 62 rows are too long, pages of 3 are not; the last rows fit a page of 62.
			if n := acct.Log().Count("Table.Query"); n < 4 || n > 70 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func limited(t *testing.T, acct *storagetest.Account, name string, accelerate func(*azcore.ClientOptions)) *aztables.Client {
	t.Helper()
	var o aztables.ClientOptions
	o.Transport = acct.Transport()
	patterns.LimitReplies(&o.ClientOptions)
	accelerate(&o.ClientOptions)
	service := assert.Must(aztables.NewServiceClientFromConnectionString(acct.ConnectionString(), &o))(t)
	return service.NewClient(name)
}
