package eventual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/sdkerr"
	"github.com/azpatterns/azpatterns/patterns"
)

// claimPrefix is the prefix of the names of all blobs that contain payloads.
const claimPrefix = "azp_claim/"

// defaultMaxPayload is the default of [Options.MaxPayload] and [EnqueueOptions.MaxPayload].
const defaultMaxPayload = 64 << 20

// claim is a claim check: it refers to a payload in a blob. A message that was received can
// contain any claim, see [claim.valid].
type claim struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// valid reports whether storePayload can have returned the claim. Everything that a claim
// leads to is below claimPrefix.
func (cl *claim) valid() bool {
	sum, err := hex.DecodeString(cl.SHA256)
	return naming.IsGenerated(cl.Name, claimPrefix) && cl.Size >= 0 && err == nil && len(sum) == sha256.Size
}

// storePayload stores a payload in a new blob. One request. etag is "" if it is not known.
func storePayload(ctx context.Context, c *container.Client, payload []byte) (cl *claim, etag string, err error) {
	sum := sha256.Sum256(payload)
	cl = &claim{claimPrefix + uuid.NewString(), int64(len(payload)), hex.EncodeToString(sum[:])}
	etag, err = uploadJSON(ctx, c, cl.Name, payload, ifAbsent())
	if errors.Is(err, patterns.ErrExists) {
		return cl, "", nil // the name is unique, so an earlier try of this request stored it
	}
	return cl, etag, err
}

// uploadJSON stores a blob under a condition. One request.
func uploadJSON(ctx context.Context, c *container.Client, name string, body []byte, condition *blob.AccessConditions) (etag string, err error) {
	var tries calls.Tries
	resp, err := c.NewBlockBlobClient(name).Upload(tries.Context(ctx), streaming.NopCloser(bytes.NewReader(body)), &blockblob.UploadOptions{
		HTTPHeaders:      &blob.HTTPHeaders{BlobContentType: to.Ptr("application/json")},
		AccessConditions: condition,
	})
	if err != nil {
		return "", writeError(&tries, "put blob", err)
	}
	etag = string(deref(resp.ETag))
	if err := azerr.CheckVersion(etag); err != nil {
		return "", sdkerr.NewWrite("put blob", err)
	}
	return etag, nil
}

// ifAbsent is the condition that the blob does not exist.
func ifAbsent() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}
}

// download reads a blob of least to most bytes. One request. If the blob has another size the
// error is refusal, and nothing of it is read.
func download(ctx context.Context, c *container.Client, name string, least, most int64, refusal error) (body []byte, etag string, err error) {
	resp, err := c.NewBlobClient(name).DownloadStream(ctx, nil)
	if err != nil {
		return nil, "", sdkerr.New("get blob", err)
	}
	stream := resp.NewRetryReader(ctx, nil)
	defer stream.Close()
	etag = string(deref(resp.ETag))
	if err := azerr.CheckVersion(etag); err != nil {
		return nil, "", fmt.Errorf("get blob: %w", err)
	}
	if n := resp.ContentLength; n == nil { // a proxy may have removed it
		body, err = io.ReadAll(io.LimitReader(stream, most+1))
	} else if least <= *n && *n <= most {
		body = make([]byte, *n)
		_, err = io.ReadFull(stream, body)
	} else {
		return nil, "", refusal
	}
	if err != nil {
		return nil, "", sdkerr.New("get blob", err)
	}
	if n := int64(len(body)); n < least || n > most {
		return nil, "", refusal
	}
	return body, etag, nil
}

// loadPayload reads and verifies a payload. One request.
func loadPayload(ctx context.Context, c *container.Client, cl *claim) (payload []byte, etag string, err error) {
	payload, etag, err = download(ctx, c, cl.Name, cl.Size, cl.Size, ErrClaimDamaged)
	if errors.Is(err, patterns.ErrNotFound) {
		return nil, "", ErrClaimGone
	}
	if err != nil {
		return nil, "", err
	}
	if sum := sha256.Sum256(payload); hex.EncodeToString(sum[:]) != cl.SHA256 {
		return nil, "", ErrClaimDamaged
	}
	return payload, etag, nil
}

// deleteBlob deletes a blob under a condition. One request.
func deleteBlob(ctx context.Context, c *container.Client, name string, condition *blob.AccessConditions) error {
	var tries calls.Tries
	calls.CountRequest(ctx)
	if _, err := c.NewBlobClient(name).Delete(tries.Context(ctx), &blob.DeleteOptions{AccessConditions: condition}); err != nil {
		return writeError(&tries, "delete blob", err)
	}
	return nil
}

// deletePayload deletes the blob, if it exists and has that ETag. One request.
func deletePayload(ctx context.Context, c *container.Client, name, etag string) error {
	err := deleteBlob(ctx, c, name, ifVersion(etag))
	if errors.Is(err, patterns.ErrNotFound) {
		return nil
	}
	return err
}

// discardPayload deletes the blob, if it exists and has the size of the claim. Two requests.
func discardPayload(ctx context.Context, c *container.Client, cl *claim) error {
	props, err := c.NewBlobClient(cl.Name).GetProperties(ctx, nil)
	if err != nil {
		if err = sdkerr.New("get blob properties", err); errors.Is(err, patterns.ErrNotFound) {
			return nil
		}
		return err
	}
	etag := string(deref(props.ETag))
	if err := azerr.CheckVersion(etag); err != nil {
		return fmt.Errorf("get blob properties: %w", err)
	}
	if props.ContentLength == nil || *props.ContentLength != cl.Size {
		return ErrClaimDamaged
	}
	return deletePayload(ctx, c, cl.Name, etag)
}
