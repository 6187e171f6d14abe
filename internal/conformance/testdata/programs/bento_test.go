// Package programs runs bento's suite of streams on blobs and queues, and streams into a table.
package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/warpstreamlabs/bento/public/bloblang"
	_ "github.com/warpstreamlabs/bento/public/components/azure"
	_ "github.com/warpstreamlabs/bento/public/components/pure"
	"github.com/warpstreamlabs/bento/public/service"
	"github.com/warpstreamlabs/bento/public/service/integration"
)

var account = os.Getenv("ACCOUNT")

func suite(t *testing.T, template string) {
	integration.StreamTests(integration.StreamTestOpenCloseIsolated(), integration.StreamTestStreamIsolated(10)).
		Run(t, template, integration.StreamTestOptVarSet("VAR1", account))
}

func TestBlobs(t *testing.T) {
	suite(t, `
output:
  azure_blob_storage: { container: files-$ID, path: 'in/${!count("$ID")}.txt', storage_connection_string: $VAR1, max_in_flight: 1 }
input:
  azure_blob_storage: { container: files-$ID, prefix: in, storage_connection_string: $VAR1 }
`)
}

func TestQueues(t *testing.T) {
	suite(t, `
output:
  azure_queue_storage: { queue_name: jobs$ID, storage_connection_string: $VAR1 }
input:
  azure_queue_storage: { queue_name: jobs$ID, storage_connection_string: $VAR1 }
`)
}

// write runs a stream of n messages into table. The row keys are what mapping assigns to id.
func write(ctx context.Context, table, mapping string, n, batch int) error {
	b := service.NewStreamBuilder()
	if err := b.SetYAML(fmt.Sprintf(`
input:
  generate: { count: %d, interval: "", mapping: '%s' }
output:
  azure_table_storage:
    storage_connection_string: %s
    table_name: %s
    partition_key: p
    row_key: ${! json("id") }
    max_in_flight: 1
    batching: { count: %d, period: 50ms }
logger: { level: "off" }
`, n, mapping, account, table, batch)); err != nil {
		return err
	}
	stream, err := b.Build()
	if err != nil {
		return err
	}
	if err := stream.Run(ctx); err != nil {
		return err
	}
	return ctx.Err()
}

// read returns the number of rows that match a filter.
func read(t *testing.T, table, filter string) int {
	b := service.NewStreamBuilder()
	err := b.AddInputYAML(fmt.Sprintf(`
azure_table_storage: { storage_connection_string: %s, table_name: %s, filter: "%s", page_size: 100 }
`, account, table, filter))
	if err != nil {
		t.Fatal(err)
	}
	var rows atomic.Int64
	if err := b.AddConsumerFunc(func(_ context.Context, m *service.Message) error {
		list, err := m.BloblangQuery(length)
		if err != nil {
			return err
		}
		n, err := list.AsStructured()
		rows.Add(n.(int64))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	stream, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return int(rows.Load())
}

var length = func() *bloblang.Executor {
	e, err := bloblang.Parse(`root = if this.type() == "array" { this.length() } else { 1 }`)
	if err != nil {
		panic(err)
	}
	return e
}()

func tableName() string { return fmt.Sprintf("Bento%d", time.Now().UnixNano()) }

func TestTable(t *testing.T) {
	table := tableName()
	if err := write(t.Context(), table, `root = { "id": "%04d".format(count("`+table+`")), "text": "it is", "list": [1, 2] }`, 250, 100); err != nil {
		t.Fatal(err)
	}
	if n := read(t, table, "PartitionKey eq 'p'"); n != 250 {
		t.Errorf("%d rows, want 250", n)
	}
	if n := read(t, table, "RowKey lt '0011'"); n != 10 {
		t.Errorf("%d rows below 0011, want 10", n)
	}
}

// Two messages of a batch with one key: the service refuses the transaction.
func TestARefusedTransactionEndsTheStream(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err := write(ctx, tableName(), `root = { "id": "same" }`, 2, 2)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Error("the stream has not ended after 5 s")
	} else if err != nil {
		t.Error(err)
	}
}
