package blob_test

import (
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/azpatterns/azpatterns/internal/assert"
)

func TestASnapshotKeepsWhatTheBlobWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so that all snapshots are taken at the same time
		ctx := t.Context()
		ct := newContainer(t)
		b := ct.NewBlockBlobClient("b")
		ids := make([]string, 3)
		for i, text := range []string{"one", "two", "three"} {
			assert.NoError(t, assert.ErrorOf(b.Upload(ctx, body(text), nil)))
			s := assert.Must(b.CreateSnapshot(ctx, &sdk.CreateSnapshotOptions{Metadata: map[string]*string{"a": &text}}))(t)
			ids[i] = *s.Snapshot
		}
		at := func(id string) *sdk.Client {
			c := assert.Must(ct.NewBlobClient("b").WithSnapshot(id))(t)
			return c
		}
		for i, text := range []string{"one", "two", "three"} {
			p, err := at(ids[i]).GetProperties(ctx, nil)
			assert.NoError(t, err)
			assert.Equal(t, *p.Metadata["A"], text)
			if got := read(t, at(ids[i]), nil); got != text {
				t.Errorf("%s: %q, want %q", ids[i], got, text)
			}
		}
		_, err := b.Delete(ctx, nil)
		wantCode(t, err, bloberror.SnapshotsPresent)
		assert.NoError(t, assert.ErrorOf(b.StartCopyFromURL(ctx, at(ids[0]).URL(), nil)))
		assert.Equal(t, read(t, b.BlobClient(), nil), "one")
		assert.Equal(t, assert.ErrorOf(at(ids[1]).Delete(ctx, nil)), nil)
		_, err = at(ids[1]).GetProperties(ctx, nil)
		wantCode(t, err, bloberror.BlobNotFound)
		assert.EqualSlices(t, listed(t, ct, 1), []string{"b " + ids[0], "b " + ids[2], "b "}, "listed")
		assert.Equal(t, assert.ErrorOf(b.Delete(ctx, &sdk.DeleteOptions{DeleteSnapshots: to.Ptr(sdk.DeleteSnapshotsOptionTypeOnly)})), nil)
		assert.EqualSlices(t, listed(t, ct, 5), []string{"b "}, "listed")
		assert.Equal(t, assert.ErrorOf(b.CreateSnapshot(ctx, nil)), nil)
		assert.Equal(t, assert.ErrorOf(b.Delete(ctx, &sdk.DeleteOptions{DeleteSnapshots: to.Ptr(sdk.DeleteSnapshotsOptionTypeInclude)})), nil)
		if got := listed(t, ct, 5); len(got) > 0 {
			t.Errorf("listed %q", got)
		}
	})
}

// listed returns the names and the ids of blobs and snapshots, read in pages.
func listed(t *testing.T, ct *container.Client, page int32) []string {
	t.Helper()
	var all []string
	for p := ct.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: &page, Include: container.ListBlobsInclude{Snapshots: true}}); p.More(); {
		res := assert.Must(p.NextPage(t.Context()))(t)
		if len(res.Segment.BlobItems) > int(page) {
			t.Errorf("a page of %d", len(res.Segment.BlobItems))
		}
		for _, b := range res.Segment.BlobItems {
			id := ""
			if b.Snapshot != nil {
				id = *b.Snapshot
			}
			all = append(all, *b.Name+" "+id)
		}
	}
	return all
}
