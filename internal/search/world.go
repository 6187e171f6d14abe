package search

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// World is what the processes of a run share: an account with one table, and the queue of the outbox.
type World struct {
	Queue *Queue
	Table *aztables.Client // for the test itself: its requests are carried out immediately

	inner   policy.Transporter
	names   *names
	clients []*Client
	list    *http.Request // of all rows, signed
	signed  time.Time
	rows    string // the table, with names
}

// TableName is the table of a [World].
const TableName = "things"

func newWorld(ctx context.Context) (*World, error) {
	w := &World{inner: storagetest.Start(nil).Transport(), names: newNames()}
	w.Queue = &Queue{world: w, named: map[string]bool{}}
	w.Table = w.Reliable("test").Tables(0).NewClient(TableName)
	_, err := w.Table.CreateTable(ctx, nil)
	return w, err
}

// Reliable returns the transport of a process whose requests are carried out immediately.
func (w *World) Reliable(name string) *Client {
	return &Client{Name: name, world: w, free: true, read: target.NewRequest()}
}

// Client returns the transport of a process whose requests wait until they are chosen.
func (w *World) Client(name string) *Client {
	c := w.Reliable(name)
	c.free = false
	w.clients = append(w.clients, c)
	return c
}

// Tables returns an accelerated client of the account, which sends a request again up to the given number of times, if
// it got no reply.
func (c *Client) Tables(retries int32) *aztables.ServiceClient {
	opts := &aztables.ClientOptions{}
	wire.Accelerate(&opts.ClientOptions)
	opts.Transport = c
	opts.Retry = policy.RetryOptions{MaxRetries: retries, RetryDelay: time.Microsecond, MaxRetryDelay: time.Millisecond}
	if retries == 0 {
		opts.Retry.MaxRetries = -1
	}
	cred, err := aztables.NewSharedKeyCredential(storagetest.AccountName, storagetest.AccountKey)
	if err != nil {
		panic(err) // of a constant
	}
	service, err := aztables.NewServiceClientWithSharedKey(storagetest.TablesURL, cred, opts)
	if err != nil {
		panic(err) // likewise
	}
	return service
}

// observe reads the table, and names the versions that are new.
func (w *World) observe(ctx context.Context) error {
	if w.list == nil || time.Since(w.signed) > 10*time.Minute { // the service accepts a signature for 15 minutes
		w.signed = time.Now()
		keep := &Client{world: &World{inner: w.inner}, free: true, read: target.NewRequest()}
		keep.world.inner = keepRequest{w}
		//azvet:ignore tablescan all rows are the state
		if _, err := keep.Tables(0).NewClient(TableName).NewListEntitiesPager(nil).NextPage(ctx); err != nil {
			return err
		}
	}
	reply, err := w.inner.Do(w.list.Clone(ctx))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the rows were not read, status %d: %w", reply.StatusCode, err)
	}
	for _, row := range bytes.Split(body, []byte(versionPrefix))[1:] {
		etag, rest, _ := strings.Cut(string(row), "'")
		_, rest, _ = strings.Cut(rest, `"PartitionKey":`)
		key, _, _ := strings.Cut(rest, `","Timestamp"`)
		w.names.version(w.names.in("", strings.NewReplacer(`","RowKey":"`, "|", `"`, "", `\\`, "").Replace(key)), etag)
	}
	w.rows = w.names.in("", string(body))
	return nil
}

// keepRequest is the transport that keeps a request with its signature, to send it again and again.
type keepRequest struct{ w *World }

func (k keepRequest) Do(req *http.Request) (*http.Response, error) {
	k.w.list = req.Clone(context.Background())
	return k.w.inner.Do(req)
}

// Row is a row of the table, without its Timestamp and metadata. Ids and versions have names.
type Row map[string]any

// Text returns a property, "" if the row has no text of that name.
func (r Row) Text(name string) string {
	text, _ := r[name].(string)
	return text
}

// Rows returns the present rows.
func (w *World) Rows(ctx context.Context) ([]Row, error) {
	if err := w.observe(ctx); err != nil {
		return nil, err
	}
	return parseRows(w.rows)
}

func parseRows(text string) ([]Row, error) {
	var page struct{ Value []Row }
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		return nil, err
	}
	for _, row := range page.Value {
		for name := range row {
			if name == "Timestamp" || strings.Contains(name, "odata.") {
				delete(row, name)
			}
		}
	}
	return page.Value, nil
}
