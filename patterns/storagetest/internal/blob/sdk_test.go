package blob_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/blob"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

const endpoint = "https://account.blob.example/"

// newService returns an SDK client of a new service, without retries.
func newService(t *testing.T) *service.Client {
	t.Helper()
	c, err := service.NewClientWithNoCredential(endpoint, &service.ClientOptions{
		ClientOptions: azcore.ClientOptions{
			Transport: &servicetest.Transport{Handler: servicetest.Handler(op.Blob, blob.New(nil).Serve)},
			Retry:     policy.RetryOptions{MaxRetries: -1},
		},
	})
	assert.NoError(t, err)
	return c
}

func newContainer(t *testing.T) *container.Client {
	t.Helper()
	c := newService(t).NewContainerClient("container1")
	assert.NoError(t, assert.ErrorOf(c.Create(t.Context(), nil)))
	return c
}

func wantCode(t *testing.T, err error, code bloberror.Code) {
	t.Helper()
	if !bloberror.HasCode(err, code) {
		t.Errorf("got %v, want %s", err, code)
	}
}

func body(s string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(s)) }

func read(t *testing.T, c *sdk.Client, o *sdk.DownloadStreamOptions) string {
	t.Helper()
	r := assert.Must(c.DownloadStream(t.Context(), o))(t)
	b := assert.Must(io.ReadAll(r.Body))(t)
	return string(b)
}

func TestSDKUploadsReadsAndDescribesABlockBlob(t *testing.T) {
	ct := newContainer(t)
	ctx := t.Context()
	name := "a b/ü+%/c?.txt"
	b := ct.NewBlockBlobClient(name)
	up, err := b.Upload(ctx, body("hello world"), &blockblob.UploadOptions{
		HTTPHeaders: &sdk.HTTPHeaders{BlobContentType: to.Ptr("text/plain"), BlobCacheControl: to.Ptr("no-store")},
		Metadata:    map[string]*string{"LogType": to.Ptr("write")},
	})
	assert.NoError(t, err)
	assert.Equal(t, read(t, b.BlobClient(), nil), "hello world", "read")
	assert.Equal(t, read(t, b.BlobClient(), &sdk.DownloadStreamOptions{Range: sdk.HTTPRange{Offset: 6, Count: 3}}), "wor", "range")
	p, err := b.GetProperties(ctx, nil)
	assert.NoError(t, err)
	if *p.ContentLength != 11 || *p.ContentType != "text/plain" || *p.CacheControl != "no-store" || *p.ETag != *up.ETag || len(p.ContentMD5) != 16 || *p.BlobType != sdk.BlobTypeBlockBlob || *p.Metadata["Logtype"] != "write" {
		t.Errorf("properties %+v", p)
	}
	_, err = b.Upload(ctx, body("x"), &blockblob.UploadOptions{AccessConditions: &sdk.AccessConditions{
		ModifiedAccessConditions: &sdk.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
	}})
	wantCode(t, err, bloberror.BlobAlreadyExists)
	set, err := b.SetMetadata(ctx, map[string]*string{"a": to.Ptr("1")}, nil)
	if err != nil || *set.ETag == *up.ETag {
		t.Errorf("metadata has to change the ETag: %v", err)
	}
	_, err = b.Upload(ctx, body("x"), &blockblob.UploadOptions{AccessConditions: &sdk.AccessConditions{
		ModifiedAccessConditions: &sdk.ModifiedAccessConditions{IfMatch: up.ETag},
	}})
	wantCode(t, err, bloberror.ConditionNotMet)
	_, err = b.DownloadStream(ctx, &sdk.DownloadStreamOptions{Range: sdk.HTTPRange{Offset: 11}})
	wantCode(t, err, bloberror.InvalidRange)
	assert.NoError(t, assert.ErrorOf(b.Delete(ctx, nil)))
	_, err = b.GetProperties(ctx, nil)
	wantCode(t, err, bloberror.BlobNotFound)
}

func TestSDKStagesAndCommitsBlocks(t *testing.T) {
	ct := newContainer(t)
	ctx := t.Context()
	b := ct.NewBlockBlobClient("blocks")
	id := func(n int) string { return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%04d", n)) }
	var ids []string
	for i := range 3 {
		ids = append(ids, id(i))
		assert.NoError(t, assert.ErrorOf(b.StageBlock(ctx, id(i), body(strings.Repeat(string(rune('a'+i)), 3)), nil)))
	}
	_, err := b.GetProperties(ctx, nil)
	wantCode(t, err, bloberror.BlobNotFound)
	list, err := b.GetBlockList(ctx, blockblob.BlockListTypeAll, nil)
	if err != nil || len(list.UncommittedBlocks) != 3 || len(list.CommittedBlocks) != 0 {
		t.Fatalf("%+v, %v", list.BlockList, err)
	}
	slices.Reverse(ids)
	assert.NoError(t, assert.ErrorOf(b.CommitBlockList(ctx, ids, nil)))
	assert.Equal(t, read(t, b.BlobClient(), nil), "cccbbbaaa", "read")
	assert.Equal(t, read(t, b.BlobClient(), &sdk.DownloadStreamOptions{Range: sdk.HTTPRange{Offset: 2, Count: 5}}), "cbbba", "read")
	_, err = b.CommitBlockList(ctx, []string{id(7)}, nil)
	wantCode(t, err, bloberror.InvalidBlockList)
	assert.NoError(t, assert.ErrorOf(b.StageBlock(ctx, base64.StdEncoding.EncodeToString([]byte("1234567")), body("x"), nil)))
	_, err = b.StageBlock(ctx, id(1), body("x"), nil)
	wantCode(t, err, bloberror.InvalidBlobOrBlock)
}

func TestSDKUploadsAStreamInParallelBlocks(t *testing.T) {
	b := newContainer(t).NewBlockBlobClient("stream")
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	assert.NoError(t, assert.ErrorOf(b.UploadBuffer(t.Context(), data, &blockblob.UploadBufferOptions{BlockSize: 1 << 17, Concurrency: 4})))
	got := make([]byte, len(data))
	n, err := b.DownloadBuffer(t.Context(), got, &sdk.DownloadBufferOptions{BlockSize: 100_000, Concurrency: 4})
	if err != nil || int(n) != len(data) || !bytes.Equal(got, data) {
		t.Errorf("read %d bytes back, %v", n, err)
	}
}

func TestSDKAppendsAtAPosition(t *testing.T) {
	ctx := t.Context()
	b := newContainer(t).NewAppendBlobClient("log")
	_, err := b.AppendBlock(ctx, body("x"), nil)
	wantCode(t, err, bloberror.BlobNotFound)
	assert.NoError(t, assert.ErrorOf(b.Create(ctx, nil)))
	for i, text := range []string{"one\n", "two\n"} {
		r, err := b.AppendBlock(ctx, body(text), &appendblob.AppendBlockOptions{
			AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: to.Ptr(int64(i * 4))},
		})
		if err != nil || *r.BlobAppendOffset != fmt.Sprint(i*4) || *r.BlobCommittedBlockCount != int32(i+1) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	_, err = b.AppendBlock(ctx, body("x"), &appendblob.AppendBlockOptions{
		AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: to.Ptr[int64](4)},
	})
	wantCode(t, err, bloberror.AppendPositionConditionNotMet)
	_, err = b.AppendBlock(ctx, body("x"), &appendblob.AppendBlockOptions{
		AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{MaxSize: to.Ptr[int64](8)},
	})
	wantCode(t, err, bloberror.MaxBlobSizeConditionNotMet)
	assert.Equal(t, read(t, b.BlobClient(), nil), "one\ntwo\n", "read")
	assert.NoError(t, assert.ErrorOf(b.Seal(ctx, nil)))
	_, err = b.AppendBlock(ctx, body("x"), nil)
	wantCode(t, err, "BlobIsSealed")
}

func TestSDKListsFlatAndByHierarchyInPages(t *testing.T) {
	ct := newContainer(t)
	ctx := t.Context()
	for _, name := range []string{"b", "a/1", "a/2", "c/x/1", "a/3", "d"} {
		if _, err := ct.NewBlockBlobClient(name).Upload(ctx, body(name), &blockblob.UploadOptions{Metadata: map[string]*string{"n": &name}}); err != nil {
			t.Fatal(err)
		}
	}
	for size := range int32(8) {
		var max *int32
		if size > 0 {
			max = &size
		}
		var flat, tree []string
		pager := ct.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: max, Include: container.ListBlobsInclude{Metadata: true}})
		for pager.More() {
			p := assert.Must(pager.NextPage(ctx))(t)
			for _, b := range p.Segment.BlobItems {
				assert.Equal(t, *b.Metadata["n"], *b.Name)
				assert.Equal(t, *b.Properties.ContentLength, int64(len(*b.Name)))
				flat = append(flat, *b.Name)
			}
		}
		assert.Equal(t, strings.Join(flat, " "), "a/1 a/2 a/3 b c/x/1 d", "pages of", size)
		hier := ct.NewListBlobsHierarchyPager("/", &container.ListBlobsHierarchyOptions{MaxResults: max})
		for hier.More() {
			p := assert.Must(hier.NextPage(ctx))(t)
			for _, b := range p.Segment.BlobPrefixes {
				tree = append(tree, *b.Name)
			}
			for _, b := range p.Segment.BlobItems {
				tree = append(tree, *b.Name)
			}
		}
		slices.Sort(tree)
		assert.Equal(t, strings.Join(tree, " "), "a/ b c/ d", "hierarchy, pages of", size)
	}
}

func TestSDKCopiesWithinTheAccount(t *testing.T) {
	ct := newContainer(t)
	ctx := t.Context()
	src := ct.NewBlockBlobClient("src")
	assert.NoError(t, assert.ErrorOf(src.Upload(ctx, body("content"), &blockblob.UploadOptions{Metadata: map[string]*string{"a": to.Ptr("1")}})))
	dst := ct.NewBlockBlobClient("dst")
	r, err := dst.StartCopyFromURL(ctx, src.URL(), nil)
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), *r.CopyStatus, sdk.CopyStatusTypeSuccess)
	assert.Equal(t, read(t, dst.BlobClient(), nil), "content", "read")
	p, err := dst.GetProperties(ctx, nil)
	if err != nil || *p.CopyID != *r.CopyID || *p.Metadata["A"] != "1" {
		t.Errorf("%+v, %v", p, err)
	}
	third := ct.NewBlockBlobClient("third")
	assert.NoError(t, assert.ErrorOf(third.UploadBlobFromURL(ctx, src.URL(), nil)))
	if _, err := third.StageBlockFromURL(ctx, "AAAA", src.URL(), &blockblob.StageBlockFromURLOptions{Range: sdk.HTTPRange{Offset: 3, Count: 2}}); err != nil {
		t.Fatal(err)
	}
	assert.NoError(t, assert.ErrorOf(third.CommitBlockList(ctx, []string{"AAAA"}, nil)))
	assert.Equal(t, read(t, third.BlobClient(), nil), "te", "read")
	_, err = dst.StartCopyFromURL(ctx, ct.NewBlobClient("none").URL(), nil)
	wantCode(t, err, "CannotVerifyCopySource")
	_, err = dst.StartCopyFromURL(ctx, "https://other.blob.example/c/b", nil)
	wantCode(t, err, bloberror.CopyAcrossAccountsNotSupported)
}

func TestSDKDescribesContainersAndTheService(t *testing.T) {
	s := newService(t)
	ctx := t.Context()
	for _, name := range []string{"bbb", "aaa", "ccc"} {
		assert.NoError(t, assert.ErrorOf(s.CreateContainer(ctx, name, &container.CreateOptions{Metadata: map[string]*string{"k": to.Ptr(name)}})))
	}
	_, err := s.CreateContainer(ctx, "aaa", nil)
	wantCode(t, err, bloberror.ContainerAlreadyExists)
	var names []string
	pager := s.NewListContainersPager(&service.ListContainersOptions{MaxResults: to.Ptr[int32](2), Include: service.ListContainersInclude{Metadata: true}})
	for pager.More() {
		p := assert.Must(pager.NextPage(ctx))(t)
		for _, c := range p.ContainerItems {
			names = append(names, *c.Name+*c.Metadata["k"])
		}
	}
	assert.Equal(t, strings.Join(names, " "), "aaaaaa bbbbbb cccccc")
	info, err := s.GetAccountInfo(ctx, nil)
	assert.NoError(t, err)
	assert.Equal(t, *info.AccountKind, service.AccountKindStorageV2)
	assert.Equal(t, assert.ErrorOf(s.GetProperties(ctx, nil)), nil)
	c := s.NewContainerClient("aaa")
	if _, err := c.SetAccessPolicy(ctx, &container.SetAccessPolicyOptions{Access: to.Ptr(container.PublicAccessTypeBlob), ContainerACL: []*container.SignedIdentifier{
		{ID: to.Ptr("x"), AccessPolicy: &container.AccessPolicy{Permission: to.Ptr("rl")}},
	}}); err != nil {
		t.Fatal(err)
	}
	acl, err := c.GetAccessPolicy(ctx, nil)
	if err != nil || *acl.BlobPublicAccess != container.PublicAccessTypeBlob || len(acl.SignedIdentifiers) != 1 {
		t.Errorf("%+v, %v", acl, err)
	}
	p, err := c.GetProperties(ctx, nil)
	if err != nil || *p.Metadata["K"] != "aaa" || *p.LeaseState != "available" {
		t.Errorf("%+v, %v", p, err)
	}
	assert.NoError(t, assert.ErrorOf(c.Delete(ctx, nil)))
	_, err = c.GetProperties(ctx, nil)
	wantCode(t, err, bloberror.ContainerNotFound)
	_, err = c.Create(ctx, nil)
	wantCode(t, err, bloberror.ContainerBeingDeleted)
}
