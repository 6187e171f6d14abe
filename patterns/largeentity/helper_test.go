package largeentity_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "20") // the default; the flag overrides it
	os.Exit(m.Run())
}

const (
	day   = 24 * time.Hour
	large = 100 << 10 // bytes of a value that is stored in a blob
)

// employee is the entity of the design guide, with one field of each kind in memory.
type employee struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	Age        int32
	Photo      []byte            `table:",blob"`
	Notes      string            `table:"Remarks,blob"`
	Skills     map[string]string `table:",blob"`
}

var jones = keys.Key{Partition: "Sales", Row: "jonesj@contoso.com"}

func newJones(photo string, size int) *employee {
	return &employee{Department: jones.Partition, Email: jones.Row, Age: 40, Photo: noise(photo, size)}
}

// noise returns n bytes that depend only on the seed and cannot be compressed.
func noise(seed string, n int) []byte {
	var key [32]byte
	copy(key[:], seed)
	b := make([]byte, n)
	rand.NewChaCha8(key).Read(b)
	return b
}

type table = *largeentity.Table[employee]

func open[T any](t testing.TB, client *aztables.Client, blobs *container.Client, opts *largeentity.Options[T]) *largeentity.Table[T] {
	t.Helper()
	table := assert.Must(largeentity.New(client, blobs, opts))(t)
	return table
}

func onBed(t testing.TB, b *harness.Backend, opts *largeentity.Options[employee]) table {
	t.Helper()
	return open(t, b.Table(t), b.Container(t), opts)
}

// onAccount returns a Table on the table Employees and the container photos.
func onAccount(t testing.TB, acct *storagetest.Account, opts *largeentity.Options[employee]) table {
	t.Helper()
	return open(t, acct.Tables().NewClient("Employees"), acct.Container("photos"), opts)
}

// inVirtualTime runs body in a synctest bubble, with a table and container that exist.
func inVirtualTime(t *testing.T, opts *largeentity.Options[employee], body func(t *testing.T, acct *storagetest.Account, table table)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		acct := storagetest.New(t)
		table := onAccount(t, acct, opts)
		assert.NoError(t, table.Create(t.Context()))
		assert.Equal(t, table.Create(t.Context()), nil, "create an existing table")
		body(t, acct, table)
	})
}

func same(got, want employee) bool {
	return got.Department == want.Department && got.Email == want.Email && got.Age == want.Age &&
		bytes.Equal(got.Photo, want.Photo) && (got.Photo == nil) == (want.Photo == nil) &&
		got.Notes == want.Notes && reflect.DeepEqual(got.Skills, want.Skills)
}

func wantEmployee(t testing.TB, got, want employee) {
	t.Helper()
	if !same(got, want) {
		t.Errorf("age %d, photo %d bytes, notes %d, %d skills; want %d, %d, %d, %d, or the content differs",
			got.Age, len(got.Photo), len(got.Notes), len(got.Skills), want.Age, len(want.Photo), len(want.Notes), len(want.Skills))
	}
}

// stored returns the names of the blobs in the container.
func stored(t testing.TB, c *container.Client) []string {
	t.Helper()
	names := []string{}
	for pager := c.NewListBlobsFlatPager(nil); pager.More(); {
		page := assert.Must(pager.NextPage(t.Context()))(t)
		for _, b := range page.Segment.BlobItems {
			names = append(names, *b.Name)
		}
	}
	slices.Sort(names)
	return names
}

func blobSize(t testing.TB, c *container.Client, name string) (int64, error) {
	props, err := c.NewBlobClient(name).GetProperties(t.Context(), nil)
	if err != nil {
		return 0, err
	}
	return *props.ContentLength, nil
}

// read returns the content of a blob as it is stored.
func read(t testing.TB, table table, name string) (string, error) {
	resp, err := table.Container().NewBlobClient(name).DownloadStream(t.Context(), nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	return string(content), err
}

// overwrite replaces the content of a blob.
func overwrite(t testing.TB, table table, name, content string) {
	t.Helper()
	put(t, table.Container(), name, []byte(content))
}

func put(t testing.TB, c *container.Client, name string, content []byte) {
	t.Helper()
	assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient(name).Upload(t.Context(), streaming.NopCloser(bytes.NewReader(content)), nil)))
}

// referencesIn returns the references of the row of jones, as they are stored.
func referencesIn(t testing.TB, table table) string {
	t.Helper()
	resp := assert.Must(table.Client().GetEntity(t.Context(), jones.Partition, jones.Row, nil))(t)
	var row map[string]any
	assert.NoError(t, json.Unmarshal(resp.Value, &row))
	text, _ := row["azp_blobs"].(string)
	return text
}

func setReferences(t testing.TB, table table, value any) {
	t.Helper()
	row := assert.Must(json.Marshal(map[string]any{"PartitionKey": jones.Partition, "RowKey": jones.Row, "azp_blobs": value}))(t)
	assert.NoError(t, assert.ErrorOf(table.Client().UpdateEntity(t.Context(), row, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge})))
}
