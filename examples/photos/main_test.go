package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

const want = `
hired Ann Beebe, photo in a blob: true
  [Table.Get Queue.Put Blob.Put Table.Insert]
hired Jun Cao, photo in a blob: true
  [Queue.Put Blob.Put Table.Insert]
hired Ken Kwok, photo in a blob: false
  [Table.Insert]
listed Ann Beebe, Jun Cao, Ken Kwok, without photos
  [Table.Query]
read the row of Ann Beebe, then replaced her photo
  [Table.Get Table.Get Queue.Put Blob.Put Table.Replace]
the earlier reader loads the old photo: true; a new reader loads the new photo: true
  [Blob.Get Table.Get Blob.Get]
dismissed Jun Cao
  [Table.Get Queue.Put Table.Delete]
a worker handled 4 messages and deleted 2 photos
dismissed Ann Beebe, and cleared the queue
  [Table.Get Queue.Put Table.Delete Queue.Clear]
swept: of 1 photos 1 marked, 0 deleted
  [Blob.List Table.Query Blob.SetMetadata]
swept: of 1 photos 0 marked, 1 deleted
  [Blob.List Table.Query Blob.Delete]
`

// The requests of each step are part of the example's contract. In virtual time the grace
// periods take no time.
func TestUnreferencedPhotosAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		assert.NoError(t, run(t.Context(), &out, storagetest.Start(nil)))
		if got := out.String(); got != strings.TrimPrefix(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
