package eventual_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/eventual"
)

// employee456 is the row that the design guide archives, with a property of every type.
const employee456 = `{
	"PartitionKey":"Sales", "RowKey":"456", "Name":"Ken Kwok",
	"Hired":"2026-01-02T03:04:05.0000006Z", "Hired@odata.type":"Edm.DateTime",
	"Badge":"9007199254740993", "Badge@odata.type":"Edm.Int64",
	"Age":23, "Rate":2, "Rate@odata.type":"Edm.Double", "Active":true,
	"Contract":"11111111-2222-3333-4444-555555555555", "Contract@odata.type":"Edm.Guid",
	"Photo":"AAEC/w==", "Photo@odata.type":"Edm.Binary", "azp_pk":"kept"}`

var key456 = keys.Key{Partition: "Sales", Row: "456"}

// archive is a table and the archive that its rows are moved to.
type archive struct {
	current *aztables.Client
	direct  *aztables.Client // the same, with requests that are not logged
	move    func(context.Context, eventual.Row) error
	read    func(testing.TB) (row string, ok bool) // employee 456 in the archive
	put     func(testing.TB, string)               // puts a row into the archive
	clear   func(testing.TB)
	names   [4]string // of the requests to insert, read, replace and delete in the archive
}

// archives runs body with a table and with a container as the archive.
func archives(t *testing.T, b *harness.Backend, body func(t *testing.T, a *archive)) {
	t.Run("table", func(t *testing.T) {
		name, old := harness.UniqueName(), b.Table(t)
		current := b.NamedTable(t, name)
		body(t, &archive{
			current: current,
			direct:  b.Direct(t, name),
			move:    func(ctx context.Context, r eventual.Row) error { return eventual.Move(ctx, current, old, r) },
			read:    func(t testing.TB) (string, bool) { return readRow(t, old) },
			put:     func(t testing.TB, row string) { putRow(t, old, row) },
			clear:   func(t testing.TB) { deleteRow(t, old) },
			names:   [4]string{"Table.Insert", "Table.Get", "Table.Replace", "Table.Delete"},
		})
	})
	t.Run("blob", func(t *testing.T) {
		name, old := harness.UniqueName(), b.Container(t)
		current := b.NamedTable(t, name)
		body(t, &archive{
			current: current,
			direct:  b.Direct(t, name),
			move:    func(ctx context.Context, r eventual.Row) error { return eventual.MoveToBlob(ctx, current, old, r) },
			read:    func(t testing.TB) (string, bool) { return readBlob(t, old) },
			put: func(t testing.TB, row string) {
				assert.NoError(t, assert.ErrorOf(old.NewBlockBlobClient("Sales/456.json").UploadBuffer(context.Background(), []byte(row), nil)))
			},
			clear: func(t testing.TB) {
				_, err := old.NewBlobClient("Sales/456.json").Delete(context.Background(), nil)
				ignoreNotFound(t, err)
			},
			names: [4]string{"Blob.Put", "Blob.Get", "Blob.Put", "Blob.Delete"},
		})
	})
}

func readRow(t testing.TB, table *aztables.Client) (string, bool) {
	t.Helper()
	resp, err := table.GetEntity(context.Background(), key456.Partition, key456.Row, nil)
	return normalize(t, resp.Value, err)
}

func readBlob(t testing.TB, c *container.Client) (string, bool) {
	t.Helper()
	buf := make([]byte, 64<<10)
	n, err := c.NewBlobClient("Sales/456.json").DownloadBuffer(context.Background(), buf, nil)
	return normalize(t, buf[:max(n, 0)], err)
}

// normalize returns a row without the members that the service adds to it, in one order.
// ok is false if err means that there is no row.
func normalize(t testing.TB, body []byte, err error) (string, bool) {
	t.Helper()
	var refused *azcore.ResponseError
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return "", false
	}
	assert.NoError(t, err)
	var members map[string]any
	assert.NoError(t, json.Unmarshal(body, &members))
	for name := range members {
		if name == "Timestamp" || len(name) > 6 && name[:6] == "odata." {
			delete(members, name)
		}
	}
	if rate, ok := members["Rate"].(float64); ok {
		members["Rate"], members["Rate@odata.type"] = rate, "Edm.Double" // the service may return 2.0
	}
	b := assert.Must(json.Marshal(members))(t)
	return string(b), true
}

func putRow(t testing.TB, table *aztables.Client, row string) azcore.ETag {
	t.Helper()
	resp := assert.Must(table.UpsertEntity(context.Background(), []byte(row), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))(t)
	return resp.ETag
}

func deleteRow(t testing.TB, table *aztables.Client) {
	t.Helper()
	_, err := table.DeleteEntity(context.Background(), key456.Partition, key456.Row, &aztables.DeleteEntityOptions{IfMatch: to.Ptr(azcore.ETagAny)})
	ignoreNotFound(t, err)
}

// ignoreNotFound fails the test for all other errors. It reports whether err is nil.
func ignoreNotFound(t testing.TB, err error) (existed bool) {
	t.Helper()
	var refused *azcore.ResponseError
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return false
	}
	assert.NoError(t, err)
	return true
}

// reset puts a row into the current table and one, or none if it is "", into the archive.
func (a *archive) reset(t testing.TB, current, archived string) azcore.ETag {
	t.Helper()
	a.clear(t)
	if archived != "" {
		a.put(t, archived)
	}
	return putRow(t, a.direct, current)
}

// change replaces the row in the current table, and reports whether there was one.
func (a *archive) change(t testing.TB, row string) bool {
	t.Helper()
	_, err := a.direct.UpdateEntity(context.Background(), []byte(row), &aztables.UpdateEntityOptions{
		IfMatch: to.Ptr(azcore.ETagAny), UpdateMode: aztables.UpdateModeReplace})
	return ignoreNotFound(t, err)
}

// employee returns the row of employee 456 with that contract and name.
func employee(contract, name string) string {
	return `{"PartitionKey":"Sales","RowKey":"456","Contract":"` + contract + `","Name":"` + name + `"}`
}

func row456() eventual.Row { return eventual.Row{PartitionKey: "Sales", RowKey: "456"} }

// want checks the rows in the current table and in the archive; "" means none.
func (a *archive) want(t testing.TB, current, archived string) {
	t.Helper()
	check := func(where, got string, ok bool, want string) {
		t.Helper()
		if want == "" && ok || want != "" && !ok {
			t.Errorf("%s contains %q, want %q", where, got, want)
			return
		}
		if want != "" {
			if want, _ = normalize(t, []byte(want), nil); got != want {
				t.Errorf("%s contains\n%s, want\n%s", where, got, want)
			}
		}
	}
	got, ok := readRow(t, a.current)
	check("current", got, ok, current)
	got, ok = a.read(t)
	check("archive", got, ok, archived)
}
