package largeentity_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// references is the property as a row has it.
func referencesIn(t testing.TB, table table) string {
	t.Helper()
	resp, err := table.Client().GetEntity(t.Context(), jones.Partition, jones.Row, nil)
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		t.Fatal(err)
	}
	text, _ := row["azp_blobs"].(string)
	return text
}

// What is stored is read by later versions of the package, so it must not change.
func TestTheStoredFormIsTheDocumentedOne(t *testing.T) {
	golden, err := os.ReadFile("testdata/references.json")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.TrimSpace(string(golden))
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		name := testbed.UniqueName()
		client, blobs := b.NamedTable(t, name), b.Container(t)
		table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: largeentity.Always, Gzip: true, Prefix: "hr/"})
		e := newJones("", 0)
		e.Photo, e.Notes, e.Skills = []byte("a photo"), strings.Repeat("note ", 100), map[string]string{"go": "good"}
		must[largeentity.Item[employee]](t)(table.Insert(t.Context(), e))

		got := referencesIn(t, table)
		id := regexp.MustCompile(`hr/` + name + `/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
		names := id.FindAllString(got, -1)
		home := blobs.URL()[strings.LastIndex(blobs.URL(), "/")+1:]
		form := strings.ReplaceAll(id.ReplaceAllString(got, "NAME"), home, "CONTAINER")
		if form != want {
			t.Errorf("references\n%s, want\n%s", form, want)
		}
		if len(names) != 3 {
			t.Fatalf("names %v", names)
		}

		// A row and blobs made by hand in that form are read.
		hand := employee{Department: jones.Partition, Email: "hand"}
		text := strings.ReplaceAll(want, "CONTAINER", home)
		for _, n := range names {
			text = strings.Replace(text, "NAME", n, 1)
		}
		row := must[[]byte](t)(json.Marshal(map[string]any{"PartitionKey": hand.Department, "RowKey": hand.Email, "Age": 7, "azp_blobs": text}))
		if _, err := client.AddEntity(t.Context(), row, nil); err != nil {
			t.Fatal(err)
		}
		item := must[largeentity.Item[employee]](t)(table.Get(t.Context(), handKey))
		hand.Age, hand.Photo, hand.Notes, hand.Skills = 7, e.Photo, e.Notes, e.Skills
		wantEmployee(t, item.Value, hand)
	})
}

// overwrite puts other content in place of a blob's.
func overwrite(t testing.TB, table table, name, content string) {
	t.Helper()
	put(t, table.Container(), name, []byte(content))
}

func put(t testing.TB, c *container.Client, name string, content []byte) {
	t.Helper()
	_, err := c.NewBlockBlobClient(name).Upload(t.Context(), streaming.NopCloser(bytes.NewReader(content)), nil)
	if err != nil {
		t.Fatal(err)
	}
}
