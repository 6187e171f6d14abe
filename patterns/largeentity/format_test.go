package largeentity_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
)

// Later versions of the package read what is stored, so the format must not change.
func TestTheStoredFormatIsTheDocumentedOne(t *testing.T) {
	golden := assert.Must(os.ReadFile("testdata/references.json"))(t)
	want := strings.TrimSpace(string(golden))
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		name := harness.UniqueName()
		client, blobs := b.NamedTable(t, name), b.Container(t)
		table := open(t, client, blobs, &largeentity.Options[employee]{Threshold: largeentity.Always, Gzip: true, Prefix: "hr/"})
		e := newJones("", 0)
		e.Photo, e.Notes, e.Skills = []byte("a photo"), strings.Repeat("note ", 100), map[string]string{"go": "good"}
		assert.Must(table.Insert(t.Context(), e))(t)

		got := referencesIn(t, table)
		id := regexp.MustCompile(`hr/` + name + `/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
		names := id.FindAllString(got, -1)
		home := blobs.URL()[strings.LastIndex(blobs.URL(), "/")+1:]
		form := strings.ReplaceAll(id.ReplaceAllString(got, "NAME"), home, "CONTAINER")
		assert.Equal(t, form, want, "references")
		assert.Equal(assert.Now(t), len(names), 3, "names", names)

		// A row that was written by other means in this format can be read.
		hand := employee{Department: jones.Partition, Email: "hand"}
		text := strings.ReplaceAll(want, "CONTAINER", home)
		for _, n := range names {
			text = strings.Replace(text, "NAME", n, 1)
		}
		row := assert.Must(json.Marshal(map[string]any{"PartitionKey": hand.Department, "RowKey": hand.Email, "Age": 7, "azp_blobs": text}))(t)
		assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), row, nil)))
		item := assert.Must(table.Get(t.Context(), handKey))(t)
		hand.Age, hand.Photo, hand.Notes, hand.Skills = 7, e.Photo, e.Notes, e.Skills
		wantEmployee(t, item.Value, hand)
	})
}

var handKey = keys.Key{Partition: jones.Partition, Row: "hand"}
