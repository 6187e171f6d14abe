package blob_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/azpatterns/azpatterns/internal/assert"
)

func TestSDKLeasesABlobUntilTheLeaseExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b := newContainer(t).NewBlockBlobClient("b")
		assert.NoError(t, assert.ErrorOf(b.Upload(ctx, body("1"), nil)))
		l := assert.Must(lease.NewBlobClient(b, nil))(t)
		got := assert.Must(l.AcquireLease(ctx, 15, nil))(t)
		other, err := lease.NewBlobClient(b, nil)
		assert.NoError(t, err)
		_, err = other.AcquireLease(ctx, 15, nil)
		wantCode(t, err, bloberror.LeaseAlreadyPresent)
		_, err = b.Upload(ctx, body("2"), nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		_, err = b.Delete(ctx, nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		_, err = b.StageBlock(ctx, "AAAA", body("x"), nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		holder := &sdk.AccessConditions{LeaseAccessConditions: &sdk.LeaseAccessConditions{LeaseID: got.LeaseID}}
		assert.Equal(t, assert.ErrorOf(b.Upload(ctx, body("2"), &blockblob.UploadOptions{AccessConditions: holder})), nil)
		assert.Equal(t, read(t, b.BlobClient(), nil), "2", "a read needs no lease")
		time.Sleep(10 * time.Second)
		assert.Equal(t, assert.ErrorOf(l.RenewLease(ctx, nil)), nil)
		time.Sleep(15*time.Second - time.Nanosecond)
		_, err = b.SetMetadata(ctx, nil, nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		time.Sleep(time.Nanosecond)
		p, err := b.GetProperties(ctx, nil)
		if err != nil || *p.LeaseState != lease.StateTypeExpired || *p.LeaseStatus != lease.StatusTypeUnlocked {
			t.Errorf("%+v, %v", p, err)
		}
		_, err = b.Upload(ctx, body("3"), &blockblob.UploadOptions{AccessConditions: holder})
		wantCode(t, err, bloberror.LeaseLost)
		assert.Equal(t, assert.ErrorOf(l.RenewLease(ctx, nil)), nil, "an expired lease of an unchanged blob can be renewed")
		time.Sleep(15 * time.Second)
		assert.Equal(t, assert.ErrorOf(b.Upload(ctx, body("3"), nil)), nil)
		_, err = l.RenewLease(ctx, nil)
		wantCode(t, err, bloberror.LeaseIDMismatchWithLeaseOperation)
	})
}

func TestSDKChangesBreaksAndReleasesALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		b := newContainer(t).NewAppendBlobClient("b")
		assert.NoError(t, assert.ErrorOf(b.Create(ctx, nil)))
		l := assert.Must(lease.NewBlobClient(b, &lease.BlobClientOptions{LeaseID: to.Ptr(guid)}))(t)
		before := assert.Must(b.GetProperties(ctx, nil))(t)
		if got, err := l.AcquireLease(ctx, -1, nil); err != nil || *got.LeaseID != guid || *got.ETag != *before.ETag {
			t.Fatalf("%+v, %v", got, err)
		}
		time.Sleep(24 * time.Hour)
		assert.NoError(t, assert.ErrorOf(l.ChangeLease(ctx, "99999999-2222-3333-4444-555555555555", nil)))
		broke, err := l.BreakLease(ctx, &lease.BlobBreakOptions{BreakPeriod: to.Ptr[int32](20)})
		assert.NoError(t, err)
		assert.Equal(assert.Now(t), *broke.LeaseTime, 20)
		_, err = b.AppendBlock(ctx, body("x"), nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		_, err = l.RenewLease(ctx, nil)
		wantCode(t, err, bloberror.LeaseIsBrokenAndCannotBeRenewed)
		time.Sleep(20 * time.Second)
		assert.Equal(t, assert.ErrorOf(b.AppendBlock(ctx, body("x"), nil)), nil)
		assert.Equal(t, assert.ErrorOf(l.AcquireLease(ctx, 60, nil)), nil)
		assert.Equal(t, assert.ErrorOf(l.ReleaseLease(ctx, nil)), nil)
		assert.Equal(t, assert.ErrorOf(b.AppendBlock(ctx, body("x"), nil)), nil)
	})
}

func TestSDKLeasesAContainerAgainstDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := newContainer(t)
		l := assert.Must(lease.NewContainerClient(c, nil))(t)
		got, err := l.AcquireLease(ctx, 60, nil)
		assert.NoError(t, err)
		if _, err := c.NewBlockBlobClient("b").Upload(ctx, body("x"), nil); err != nil {
			t.Errorf("the lease of a container does not keep blobs from being written: %v", err)
		}
		_, err = c.Delete(ctx, nil)
		wantCode(t, err, bloberror.LeaseIDMissing)
		_, err = c.Delete(ctx, &container.DeleteOptions{AccessConditions: &container.AccessConditions{LeaseAccessConditions: &container.LeaseAccessConditions{LeaseID: to.Ptr(guid)}}})
		wantCode(t, err, bloberror.LeaseIDMismatchWithContainerOperation)
		if _, err := c.Delete(ctx, &container.DeleteOptions{AccessConditions: &container.AccessConditions{LeaseAccessConditions: &container.LeaseAccessConditions{LeaseID: got.LeaseID}}}); err != nil {
			t.Error(err)
		}
	})
}

func TestTheNameOfADeletedContainerIsBlockedFor30Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := newContainer(t)
		assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient("b").Upload(ctx, body("x"), nil)))
		assert.NoError(t, assert.ErrorOf(c.Delete(ctx, nil)))
		_, err := c.NewBlobClient("b").GetProperties(ctx, nil)
		assert.Failed(t, err, "a blob outlives its container")
		time.Sleep(30*time.Second - time.Nanosecond)
		_, err = c.Create(ctx, nil)
		wantCode(t, err, bloberror.ContainerBeingDeleted)
		time.Sleep(time.Nanosecond)
		assert.NoError(t, assert.ErrorOf(c.Create(ctx, nil)))
		p, err := c.NewListBlobsFlatPager(nil).NextPage(ctx)
		assert.NoError(t, err)
		assert.Equal(t, len(p.Segment.BlobItems), 0)
	})
}

func TestUncommittedBlocksAreDroppedAWeekAfterTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		c := newContainer(t)
		b := c.NewBlockBlobClient("b")
		uncommitted := func() int {
			t.Helper()
			p, err := c.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{UncommittedBlobs: true}}).NextPage(ctx)
			assert.NoError(t, err)
			return len(p.Segment.BlobItems)
		}
		assert.NoError(t, assert.ErrorOf(b.StageBlock(ctx, "AAAA", body("a"), nil)))
		time.Sleep(6 * 24 * time.Hour)
		assert.NoError(t, assert.ErrorOf(b.StageBlock(ctx, "BBBB", body("b"), nil)))
		time.Sleep(7*24*time.Hour - time.Nanosecond)
		if list, err := b.GetBlockList(ctx, blockblob.BlockListTypeUncommitted, nil); err != nil || len(list.UncommittedBlocks) != 2 || uncommitted() != 1 {
			t.Errorf("%+v, %v", list.BlockList, err)
		}
		time.Sleep(time.Nanosecond)
		assert.Equal(t, uncommitted(), 0, "uncommitted blobs are listed")
		_, err := b.GetBlockList(ctx, blockblob.BlockListTypeUncommitted, nil)
		wantCode(t, err, bloberror.BlobNotFound)
	})
}
