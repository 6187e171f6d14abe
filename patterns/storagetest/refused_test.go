package storagetest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestFeaturesThatStayOutAreRefusedAsDocumented(t *testing.T) {
	ctx := t.Context()
	acct := storagetest.New(t)
	box := acct.Container("box")
	assert.NoError(t, assert.ErrorOf(box.Create(ctx, nil)))
	b := box.NewBlockBlobClient("b")
	upload := func(o *blockblob.UploadOptions) error {
		_, err := b.Upload(ctx, streaming.NopCloser(strings.NewReader("x")), o)
		return err
	}
	assert.NoError(t, upload(nil))
	for name, call := range map[string]func() error{
		"a page blob": func() error { _, err := box.NewPageBlobClient("page").Create(ctx, 512, nil); return err },
		"the ranges of a page blob": func() error {
			_, err := box.NewPageBlobClient("b").NewGetPageRangesPager(nil).NextPage(ctx)
			return err
		},
		"a version": func() error {
			v, err := b.WithVersionID("2020-01-01T00:00:00.0000000Z")
			if err != nil {
				return err
			}
			_, err = v.GetProperties(ctx, nil)
			return err
		},
		"undelete":          func() error { _, err := b.Undelete(ctx, nil); return err },
		"a deleted box":     func() error { _, err := box.Restore(ctx, "01", nil); return err },
		"the search by tag": func() error { _, err := box.FilterBlobs(ctx, "a='b'", nil); return err },
		"a condition on tags": func() error {
			return upload(&blockblob.UploadOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfTags: to.Ptr("a='b'")}}})
		},
		"the Archive tier": func() error { _, err := b.SetTier(ctx, blob.AccessTierArchive, nil); return err },
		"an encryption scope": func() error {
			return upload(&blockblob.UploadOptions{CPKScopeInfo: &blob.CPKScopeInfo{EncryptionScope: to.Ptr("s")}})
		},
		"an immutability date": func() error { _, err := b.SetImmutabilityPolicy(ctx, time.Now().Add(time.Hour), nil); return err },
		"a legal hold":         func() error { _, err := b.SetLegalHold(ctx, true, nil); return err },
		"an expiry": func() error {
			_, err := b.SetExpiry(ctx, blockblob.ExpiryTypeRelativeToNow(time.Hour), nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			wantCode(t, call(), 501, "NotImplemented")
		})
	}
	_, err := b.StartCopyFromURL(ctx, "https://other.blob.core.windows.net/box/b", nil)
	wantCode(t, err, 400, "CopyAcrossAccountsNotSupported")
}
