package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
)

const want = `
hired Ann Beebe, photo in a blob: true
  [Table.Get Blob.Put Table.Insert]
hired Jun Cao, photo in a blob: true
  [Blob.Put Table.Insert]
hired Ken Kwok, photo in a blob: false
  [Table.Insert]
listed Ann Beebe, Jun Cao, Ken Kwok, without photos
  [Table.Query]
looked at Ann Beebe, then gave her a new photo
  [Table.Get Table.Get Blob.Put Table.Replace]
who looked before still gets the old one: true; who looks now gets the new one: true
  [Blob.Get Table.Get Blob.Get]
dismissed Jun Cao
  [Table.Delete]
swept: of 3 photos 0 marked, 0 deleted
  [Blob.List]
swept: of 3 photos 2 marked, 0 deleted
  [Blob.List Table.Query Blob.SetMetadata Blob.SetMetadata]
swept: of 3 photos 0 marked, 2 deleted
  [Blob.List Table.Query Blob.Delete Blob.Delete]
`

// What each step costs is part of the example's contract. The grace times take no time
// here.
func TestThePhotosAreReplacedAndSwept(t *testing.T) {
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
