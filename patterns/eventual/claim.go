package eventual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns"
)

// claimPrefix begins the name of every blob that holds a payload.
const claimPrefix = "azp_claim/"

// claim refers to a payload in a blob: the claim check.
type claim struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// deposit stores a payload under a name of its own, which it never overwrites. One
// request.
func deposit(ctx context.Context, c *container.Client, payload []byte) (*claim, error) {
	sum := sha256.Sum256(payload)
	cl := &claim{claimPrefix + uuid.NewString(), int64(len(payload)), hex.EncodeToString(sum[:])}
	_, err := c.NewBlockBlobClient(cl.Name).Upload(ctx, streaming.NopCloser(bytes.NewReader(payload)), &blockblob.UploadOptions{
		HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
		AccessConditions: absent(),
	})
	err = fail("put blob", err, true)
	if hasCode(err, "BlobAlreadyExists") {
		return cl, nil // nobody else has the name: it was this call, whose reply was lost
	}
	return cl, err
}

// absent is the condition that there is no such blob.
func absent() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

// redeem reads the payload and checks it. One request.
func redeem(ctx context.Context, c *container.Client, cl *claim) ([]byte, error) {
	resp, err := c.NewBlobClient(cl.Name).DownloadStream(ctx, nil)
	if err != nil {
		err = fail("get blob", err, false)
		if hasCode(err, "BlobNotFound") {
			return nil, ErrClaimGone
		}
		return nil, err
	}
	body := resp.NewRetryReader(ctx, nil)
	defer body.Close()
	payload, err := io.ReadAll(io.LimitReader(body, cl.Size+1)) // no more than promised is believed
	if err != nil {
		return nil, fail("get blob", err, false)
	}
	sum := sha256.Sum256(payload)
	if int64(len(payload)) != cl.Size || hex.EncodeToString(sum[:]) != cl.SHA256 {
		return nil, ErrClaimDamaged
	}
	return payload, nil
}

// discard deletes the blob; one that is gone is fine. One request.
func discard(ctx context.Context, c *container.Client, cl *claim) error {
	_, err := c.NewBlobClient(cl.Name).Delete(ctx, nil)
	if err = fail("delete blob", err, true); hasCode(err, "BlobNotFound") {
		return nil
	}
	return err
}

const defaultSweepAge = 30 * 24 * time.Hour

// SweepClaims deletes the payload blobs of a container that are older than age, and
// tells how many. Such blobs are left behind where a process died between storing
// the blob and the message, or between deleting the message and the blob; they hurt
// nobody. Zero means 30 days.
//
// A message whose blob was swept cannot be handled any more, and becomes a poison
// message. So the age must be greater than any message may wait, in the poison
// queue too.
//
// One request for 5,000 blobs, and one for each deleted.
func SweepClaims(ctx context.Context, c *container.Client, age time.Duration) (int, error) {
	if c == nil {
		return 0, fmt.Errorf("sweep claims: container: %w", patterns.ErrNil)
	}
	if age <= 0 {
		age = defaultSweepAge
	}
	limit := time.Now().Add(-age)
	swept := 0
	pager := c.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: to.Ptr(claimPrefix)})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return swept, fail("list blobs", err, false)
		}
		if page.Segment == nil {
			continue
		}
		for _, b := range page.Segment.BlobItems {
			if b == nil || b.Properties == nil || !deref(b.Properties.LastModified).Before(limit) {
				continue
			}
			if err := discard(ctx, c, &claim{Name: deref(b.Name)}); err != nil {
				return swept, err
			}
			swept++
		}
	}
	return swept, nil
}
