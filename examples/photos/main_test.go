package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
)

const want = `
inserted Ann Beebe, photo in a blob: true
  [Table.Get Queue.Put Blob.Put Table.Insert]
inserted Jun Cao, photo in a blob: true
  [Queue.Put Blob.Put Table.Insert]
inserted Ken Kwok, photo in a blob: false
  [Table.Insert]
listed Ann Beebe, Jun Cao, Ken Kwok, without photos
  [Table.Query]
read the row of Ann Beebe, then replaced her photo
  [Table.Get Table.Get Queue.Put Blob.Put Table.Replace]
the row read before still loads the old photo: true; a new read returns the new photo: true
  [Blob.Get Table.Get Blob.Get]
deleted Jun Cao
  [Table.Get Queue.Put Table.Delete]
a worker processed 4 outbox messages and deleted 2 photos
deleted Ann Beebe, and cleared the queue
  [Table.Get Queue.Put Table.Delete Queue.Clear]
swept 1 photos: marked 1, deleted 0
  [Blob.List Table.Query Blob.SetMetadata]
swept 1 photos: marked 0, deleted 1
  [Blob.List Table.Query Blob.Delete]
`

// The cost of each step is part of the example's contract. The grace times are virtual.
func TestUnusedPhotosAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != strings.TrimPrefix(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}
