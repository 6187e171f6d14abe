package hotkey

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var _ = (*aztables.Client).GetEntity

type log struct {
	n     int64
	table *aztables.Client
}

func (l *log) keys(source string, when time.Time) any {
	l.n++
	l.table.NewListEntitiesPager(nil)
	now := time.Now().UTC()
	id := atomic.AddInt64(&l.n, 1)
	return []any{
		aztables.Entity{PartitionKey: time.Now().UTC().Format("2006-01-02"), RowKey: "r"},    // want `begins with the current time.*hotkey, warning`
		aztables.Entity{PartitionKey: fmt.Sprintf("%d_%s", now.Unix(), source), RowKey: "r"}, // want `begins with the current time`
		aztables.Entity{PartitionKey: strconv.FormatInt(id, 10), RowKey: "r"},                // want `begins with a counter`
		aztables.Entity{PartitionKey: fmt.Sprint("n", l.n), RowKey: "r"},
		aztables.Entity{PartitionKey: fmt.Sprintf("%d", l.n), RowKey: "r"},            // want `begins with a counter`
		aztables.Entity{PartitionKey: "log-" + now.Format("2006-01-02"), RowKey: "r"}, // want `begins with the current time`
		aztables.Entity{PartitionKey: source + now.Format("2006-01-02"), RowKey: "r"},
		aztables.Entity{PartitionKey: when.Format("2006-01-02"), RowKey: "r"},
		aztables.Entity{PartitionKey: "p", RowKey: now.Format("2006-01-02")},
	}
}
