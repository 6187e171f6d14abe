package conformance

import (
	"bytes"
	"crypto/md5"
	"io"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	bloblease "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/lease"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/azpatterns/azpatterns/internal/assert"
)

func body(text string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(text)) }

func (s *session) upload(name, text string) azcore.ETag {
	res, err := s.container.NewBlockBlobClient(name).Upload(s.ctx, body(text), nil)
	assert.NoError(s, err, name)
	return *res.ETag
}

func (s *session) download(name string, o *azblob.DownloadStreamOptions) (string, error) {
	res, err := s.blobs.DownloadStream(s.ctx, s.name, name, o)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

var blobPrograms = []program{
	{"UploadBuffer and DownloadBuffer in ranges", func(s *session) {
		data := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
		assert.NoError(s, assert.ErrorOf(s.blobs.UploadBuffer(s.ctx, s.name, "big", data, &azblob.UploadBufferOptions{BlockSize: 100_000, Concurrency: 3})))
		got := make([]byte, len(data))
		n, err := s.blobs.DownloadBuffer(s.ctx, s.name, "big", got, &azblob.DownloadBufferOptions{BlockSize: 70_000, Concurrency: 3})
		s.check(err, same("bytes", n, int64(len(data))), same("content", bytes.Equal(got, data), true))
	}},
	{"UploadStream in blocks", func(s *session) {
		text := strings.Repeat("x", 2<<20+1)
		assert.NoError(s, assert.ErrorOf(s.blobs.UploadStream(s.ctx, s.name, "stream", strings.NewReader(text), &azblob.UploadStreamOptions{BlockSize: 1 << 20, Concurrency: 2})))
		got, err := s.download("stream", nil)
		list, listErr := s.container.NewBlockBlobClient("stream").GetBlockList(s.ctx, blockblob.BlockListTypeAll, nil)
		s.check(err, listErr, same("content", got == text, true), same("blocks", len(list.CommittedBlocks), 3))
	}},
	{"a range of a blob", func(s *session) {
		s.upload("b", "0123456789")
		got, err := s.download("b", &azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 3, Count: 4}})
		all, allErr := s.download("b", &azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: -1}})
		s.check(err, allErr, same("content", got, "3456"), same("content from before the start", all, "0123456789"))
	}},
	{"a missing blob", func(s *session) {
		_, err := s.download("none", nil)
		s.check(refused(err, 404, string(bloberror.BlobNotFound)))
	}},
	{"Upload if none exists", func(s *session) {
		only := &blockblob.UploadOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}}
		client := s.container.NewBlockBlobClient("b")
		assert.NoError(s, assert.ErrorOf(client.Upload(s.ctx, body("one"), only)))
		_, err := client.Upload(s.ctx, body("two"), only)
		s.check(refused(err, 409, string(bloberror.BlobAlreadyExists)))
	}},
	{"Upload over the version that was read", func(s *session) {
		etag := s.upload("b", "one")
		s.upload("b", "two")
		_, err := s.container.NewBlockBlobClient("b").Upload(s.ctx, body("three"), &blockblob.UploadOptions{
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}}})
		s.check(refused(err, 412, string(bloberror.ConditionNotMet)))
	}},
	{"metadata and headers of a blob", func(s *session) {
		client := s.container.NewBlockBlobClient("b")
		_, err := client.Upload(s.ctx, body("x"), &blockblob.UploadOptions{
			HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/css")}, Metadata: map[string]*string{"color": to.Ptr("blue")}})
		assert.NoError(s, err)
		p := assert.Must(client.GetProperties(s.ctx, nil))(s)
		var color string
		for name, value := range p.Metadata {
			if strings.EqualFold(name, "color") {
				color = *value
			}
		}
		s.check(same("type", *p.ContentType, "text/css"), same("color", color, "blue"), same("kind", *p.BlobType, blob.BlobTypeBlockBlob), same("length", *p.ContentLength, int64(1)))
	}},
	{"metadata with a name that HTTP does not allow", func(s *session) {
		_, err := s.container.NewBlockBlobClient("b").Upload(s.ctx, body("x"), &blockblob.UploadOptions{Metadata: map[string]*string{"!@#": to.Ptr("x")}})
		s.check(same("net/http refuses it", err != nil && strings.Contains(err.Error(), "invalid header field name"), true))
	}},
	{"CopyFromURL", func(s *session) {
		s.upload("b", "content")
		from := s.container.NewBlobClient("b")
		signed := func(p sas.BlobPermissions) string {
			return assert.Must(from.GetSASURL(p, time.Now().Add(time.Hour), nil))(s)
		}
		to := s.container.NewBlobClient("copy")
		_, bareErr := to.CopyFromURL(s.ctx, from.URL(), nil)
		_, writeErr := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Write: true}), nil)
		sum := md5.Sum([]byte("content"))
		_, err := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Read: true}), &blob.CopyFromURLOptions{SourceContentMD5: sum[:]})
		_, wrongErr := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Read: true}), &blob.CopyFromURLOptions{SourceContentMD5: make([]byte, 16)})
		s.check(err, refused(bareErr, 401, string(bloberror.CannotVerifyCopySource)), refused(writeErr, 403, string(bloberror.CannotVerifyCopySource)),
			refused(wrongErr, 400, string(bloberror.MD5Mismatch)))
	}},
	{"UploadBlobFromURL with the tags of the source", func(s *session) {
		assert.NoError(s, assert.ErrorOf(s.container.NewBlockBlobClient("b").Upload(s.ctx, body("x"), &blockblob.UploadOptions{Tags: map[string]string{"color": "blue"}})))
		link := assert.Must(s.container.NewBlobClient("b").GetSASURL(sas.BlobPermissions{Read: true, Tag: true}, time.Now().Add(time.Hour), nil))(s)
		client := s.container.NewBlockBlobClient("copy")
		assert.NoError(s, assert.ErrorOf(client.UploadBlobFromURL(s.ctx, link, &blockblob.UploadBlobFromURLOptions{CopySourceTags: to.Ptr(blockblob.BlobCopySourceTagsCopy)})))
		res, err := client.GetTags(s.ctx, nil)
		s.check(err, same("tags", len(res.BlobTagSet), 1))
	}},
	{"blocks of an append blob", func(s *session) {
		client := s.container.NewAppendBlobClient("log")
		assert.NoError(s, assert.ErrorOf(client.Create(s.ctx, nil)))
		at := func(position int64) *appendblob.AppendBlockOptions {
			return &appendblob.AppendBlockOptions{AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: &position}}
		}
		assert.NoError(s, assert.ErrorOf(client.AppendBlock(s.ctx, body("one"), at(0))))
		second := assert.Must(client.AppendBlock(s.ctx, body("two"), at(3)))(s)
		_, lateErr := client.AppendBlock(s.ctx, body("x"), at(3))
		got, err := s.download("log", nil)
		s.check(err, same("content", got, "onetwo"), same("blocks", *second.BlobCommittedBlockCount, int32(2)), refused(lateErr, 412, string(bloberror.AppendPositionConditionNotMet)))
	}},
	{"blobs are listed in pages and by hierarchy", func(s *session) {
		for _, name := range []string{"a", "d/1", "d/2", "z"} {
			s.upload(name, "x")
		}
		var flat, top []string
		pages := 0
		for pager := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: to.Ptr(int32(3))}); pager.More(); pages++ {
			page := assert.Must(pager.NextPage(s.ctx))(s)
			for _, b := range page.Segment.BlobItems {
				flat = append(flat, *b.Name)
			}
		}
		for pager := s.container.NewListBlobsHierarchyPager("/", nil); pager.More(); {
			page := assert.Must(pager.NextPage(s.ctx))(s)
			for _, p := range page.Segment.BlobPrefixes {
				top = append(top, *p.Name)
			}
			for _, b := range page.Segment.BlobItems {
				top = append(top, *b.Name)
			}
		}
		s.check(same("flat", flat, []string{"a", "d/1", "d/2", "z"}), same("pages", pages, 2), same("hierarchy", top, []string{"d/", "a", "z"}))
	}},
	{"a lease prevents other writes", func(s *session) {
		s.upload("b", "x")
		client := s.container.NewBlockBlobClient("b")
		held := assert.Must(bloblease.NewBlobClient(client, nil))(s)
		assert.NoError(s, assert.ErrorOf(held.AcquireLease(s.ctx, 15, nil)))
		other := assert.Must(bloblease.NewBlobClient(client, nil))(s)
		_, takenErr := other.AcquireLease(s.ctx, 15, nil)
		_, writeErr := client.Upload(s.ctx, body("y"), nil)
		_, renewErr := held.RenewLease(s.ctx, nil)
		_, releaseErr := held.ReleaseLease(s.ctx, nil)
		_, freeErr := client.Upload(s.ctx, body("y"), nil)
		s.check(refused(takenErr, 409, string(bloberror.LeaseAlreadyPresent)), refused(writeErr, 412, string(bloberror.LeaseIDMissing)), renewErr, releaseErr, freeErr)
	}},
	{"StartCopyFromURL", func(s *session) {
		s.upload("b", "content")
		to := s.container.NewBlobClient("copy")
		res := assert.Must(to.StartCopyFromURL(s.ctx, s.container.NewBlobClient("b").URL(), nil))(s)
		got, err := s.download("copy", nil)
		s.check(err, same("status", *res.CopyStatus, blob.CopyStatusTypeSuccess), same("content", got, "content"))
	}},
	{"blob names that need encoding", func(s *session) {
		for _, name := range []string{"a b", "it's", "100%", "a+b", "a#b?c", "é😀", "a/b//c", "a&b=c;d", "{x}[y]"} {
			s.upload(name, name)
			got, err := s.download(name, nil)
			assert.NoError(s, err, name)
			s.check(same("content", got, name))
		}
	}},
	{"existing and missing containers", func(s *session) {
		_, existsErr := s.container.Create(s.ctx, nil)
		_, missingErr := s.blobs.ServiceClient().NewContainerClient(s.name+"-none").GetProperties(s.ctx, nil)
		s.check(refused(existsErr, 409, string(bloberror.ContainerAlreadyExists)), refused(missingErr, 404, string(bloberror.ContainerNotFound)))
	}},
	{"a shared access signature of a container", func(s *session) {
		s.upload("b", "x")
		link := assert.Must(s.container.GetSASURL(sas.ContainerPermissions{Read: true}, time.Now().Add(time.Hour), nil))(s)
		reader := assert.Must(container.NewClientWithNoCredential(link, &container.ClientOptions{ClientOptions: s.options}))(s)
		_, readErr := reader.NewBlobClient("b").GetProperties(s.ctx, nil)
		_, writeErr := reader.NewBlockBlobClient("b").Upload(s.ctx, body("y"), nil)
		s.check(readErr, refused(writeErr, 403, string(bloberror.AuthorizationPermissionMismatch)))
	}},
	{"tags of a blob", func(s *session) {
		s.upload("b", "x")
		client := s.container.NewBlobClient("b")
		assert.NoError(s, assert.ErrorOf(client.SetTags(s.ctx, map[string]string{"color": "blue"}, nil)))
		res := assert.Must(client.GetTags(s.ctx, nil))(s)
		s.check(same("tags", len(res.BlobTagSet), 1), same("color", *res.BlobTagSet[0].Value, "blue"))
	}},
	{"CreateSnapshot", func(s *session) {
		s.upload("b", "one")
		client := s.container.NewBlockBlobClient("b")
		snapshot := assert.Must(client.CreateSnapshot(s.ctx, nil))(s)
		s.upload("b", "two")
		at := assert.Must(client.WithSnapshot(*snapshot.Snapshot))(s)
		buffer := make([]byte, 3)
		_, err := at.DownloadBuffer(s.ctx, buffer, nil)
		_, deleteErr := client.Delete(s.ctx, nil)
		_, allErr := client.Delete(s.ctx, &blob.DeleteOptions{DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude)})
		s.check(err, same("content", string(buffer), "one"), refused(deleteErr, 409, string(bloberror.SnapshotsPresent)), allErr)
	}},
	{"SubmitBatch of deletes", func(s *session) {
		for _, name := range []string{"a", "b", "c d"} {
			s.upload(name, "x")
		}
		batch := assert.Must(s.container.NewBatchBuilder())(s)
		for _, name := range []string{"a", "none", "c d"} {
			assert.NoError(s, batch.Delete(name, nil))
		}
		res := assert.Must(s.container.SubmitBatch(s.ctx, batch, nil))(s)
		var errs []error
		for _, item := range res.Responses {
			if strings.HasSuffix(*item.BlobName, "none") { // the address of Azurite contains the account
				item.Error = refused(item.Error, 404, string(bloberror.BlobNotFound))
			}
			errs = append(errs, item.Error)
		}
		_, goneErr := s.download("c d", nil)
		_, keptErr := s.download("b", nil)
		s.check(errs...)
		s.check(same("replies", len(errs), 3), refused(goneErr, 404, string(bloberror.BlobNotFound)), keptErr)
	}},
	{"SubmitBatch of changes of the tier with a signature", func(s *session) {
		s.upload("b", "x")
		link := assert.Must(s.container.GetSASURL(sas.ContainerPermissions{Write: true}, time.Now().Add(time.Hour), nil))(s)
		signed := assert.Must(container.NewClientWithNoCredential(link, &container.ClientOptions{ClientOptions: s.options}))(s)
		batch := assert.Must(signed.NewBatchBuilder())(s)
		assert.NoError(s, batch.SetTier("b", blob.AccessTierCool, nil))
		res := assert.Must(signed.SubmitBatch(s.ctx, batch, nil))(s)
		p, err := s.container.NewBlobClient("b").GetProperties(s.ctx, nil)
		s.check(err, res.Responses[0].Error, same("tier", *p.AccessTier, "Cool"))
	}},
	{"Delete a blob twice", func(s *session) {
		s.upload("b", "x")
		assert.NoError(s, assert.ErrorOf(s.blobs.DeleteBlob(s.ctx, s.name, "b", nil)))
		_, err := s.blobs.DeleteBlob(s.ctx, s.name, "b", nil)
		s.check(refused(err, 404, string(bloberror.BlobNotFound)))
	}},
}
