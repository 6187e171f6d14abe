package conformance

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
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
)

func body(text string) io.ReadSeekCloser { return streaming.NopCloser(strings.NewReader(text)) }

func (s *session) upload(name, text string) (azcore.ETag, error) {
	res, err := s.container.NewBlockBlobClient(name).Upload(s.ctx, body(text), nil)
	if err != nil {
		return "", err
	}
	return *res.ETag, nil
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
	{"UploadBuffer and DownloadBuffer in ranges", func(s *session) error {
		data := bytes.Repeat([]byte("0123456789abcdef"), 40_000)
		if _, err := s.blobs.UploadBuffer(s.ctx, s.name, "big", data, &azblob.UploadBufferOptions{BlockSize: 100_000, Concurrency: 3}); err != nil {
			return err
		}
		got := make([]byte, len(data))
		n, err := s.blobs.DownloadBuffer(s.ctx, s.name, "big", got, &azblob.DownloadBufferOptions{BlockSize: 70_000, Concurrency: 3})
		return errors.Join(err, same("bytes", n, int64(len(data))), same("content", bytes.Equal(got, data), true))
	}},
	{"UploadStream in blocks", func(s *session) error {
		text := strings.Repeat("x", 2<<20+1)
		if _, err := s.blobs.UploadStream(s.ctx, s.name, "stream", strings.NewReader(text), &azblob.UploadStreamOptions{BlockSize: 1 << 20, Concurrency: 2}); err != nil {
			return err
		}
		got, err := s.download("stream", nil)
		list, listErr := s.container.NewBlockBlobClient("stream").GetBlockList(s.ctx, blockblob.BlockListTypeAll, nil)
		return errors.Join(err, listErr, same("content", got == text, true), same("blocks", len(list.CommittedBlocks), 3))
	}},
	{"a range of a blob", func(s *session) error {
		if _, err := s.upload("b", "0123456789"); err != nil {
			return err
		}
		got, err := s.download("b", &azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: 3, Count: 4}})
		all, allErr := s.download("b", &azblob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: -1}})
		return errors.Join(err, allErr, same("content", got, "3456"), same("content from before the start", all, "0123456789"))
	}},
	{"a missing blob", func(s *session) error {
		_, err := s.download("none", nil)
		return refused(err, 404, string(bloberror.BlobNotFound))
	}},
	{"Upload if none exists", func(s *session) error {
		only := &blockblob.UploadOptions{AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)}}}
		client := s.container.NewBlockBlobClient("b")
		if _, err := client.Upload(s.ctx, body("one"), only); err != nil {
			return err
		}
		_, err := client.Upload(s.ctx, body("two"), only)
		return refused(err, 409, string(bloberror.BlobAlreadyExists))
	}},
	{"Upload over the version that was read", func(s *session) error {
		etag, err := s.upload("b", "one")
		if err != nil {
			return err
		}
		if _, err := s.upload("b", "two"); err != nil {
			return err
		}
		_, err = s.container.NewBlockBlobClient("b").Upload(s.ctx, body("three"), &blockblob.UploadOptions{
			AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}}})
		return refused(err, 412, string(bloberror.ConditionNotMet))
	}},
	{"metadata and headers of a blob", func(s *session) error {
		client := s.container.NewBlockBlobClient("b")
		_, err := client.Upload(s.ctx, body("x"), &blockblob.UploadOptions{
			HTTPHeaders: &blob.HTTPHeaders{BlobContentType: to.Ptr("text/css")}, Metadata: map[string]*string{"color": to.Ptr("blue")}})
		if err != nil {
			return err
		}
		p, err := client.GetProperties(s.ctx, nil)
		if err != nil {
			return err
		}
		var color string
		for name, value := range p.Metadata {
			if strings.EqualFold(name, "color") {
				color = *value
			}
		}
		return errors.Join(same("type", *p.ContentType, "text/css"), same("color", color, "blue"), same("kind", *p.BlobType, blob.BlobTypeBlockBlob), same("length", *p.ContentLength, int64(1)))
	}},
	{"metadata with a name that HTTP does not allow", func(s *session) error {
		_, err := s.container.NewBlockBlobClient("b").Upload(s.ctx, body("x"), &blockblob.UploadOptions{Metadata: map[string]*string{"!@#": to.Ptr("x")}})
		return same("net/http refuses it", err != nil && strings.Contains(err.Error(), "invalid header field name"), true)
	}},
	{"CopyFromURL", func(s *session) error {
		if _, err := s.upload("b", "content"); err != nil {
			return err
		}
		from := s.container.NewBlobClient("b")
		signed := func(p sas.BlobPermissions) string {
			link, err := from.GetSASURL(p, time.Now().Add(time.Hour), nil)
			if err != nil {
				return err.Error()
			}
			return link
		}
		to := s.container.NewBlobClient("copy")
		_, bareErr := to.CopyFromURL(s.ctx, from.URL(), nil)
		_, writeErr := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Write: true}), nil)
		sum := md5.Sum([]byte("content"))
		_, err := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Read: true}), &blob.CopyFromURLOptions{SourceContentMD5: sum[:]})
		_, wrongErr := to.CopyFromURL(s.ctx, signed(sas.BlobPermissions{Read: true}), &blob.CopyFromURLOptions{SourceContentMD5: make([]byte, 16)})
		return errors.Join(err, refused(bareErr, 401, string(bloberror.CannotVerifyCopySource)), refused(writeErr, 403, string(bloberror.CannotVerifyCopySource)),
			refused(wrongErr, 400, string(bloberror.MD5Mismatch)))
	}},
	{"UploadBlobFromURL with the tags of the source", func(s *session) error {
		if _, err := s.container.NewBlockBlobClient("b").Upload(s.ctx, body("x"), &blockblob.UploadOptions{Tags: map[string]string{"color": "blue"}}); err != nil {
			return err
		}
		link, err := s.container.NewBlobClient("b").GetSASURL(sas.BlobPermissions{Read: true, Tag: true}, time.Now().Add(time.Hour), nil)
		if err != nil {
			return err
		}
		client := s.container.NewBlockBlobClient("copy")
		if _, err := client.UploadBlobFromURL(s.ctx, link, &blockblob.UploadBlobFromURLOptions{CopySourceTags: to.Ptr(blockblob.BlobCopySourceTagsCopy)}); err != nil {
			return err
		}
		res, err := client.GetTags(s.ctx, nil)
		return errors.Join(err, same("tags", len(res.BlobTagSet), 1))
	}},
	{"blocks of an append blob", func(s *session) error {
		client := s.container.NewAppendBlobClient("log")
		if _, err := client.Create(s.ctx, nil); err != nil {
			return err
		}
		at := func(position int64) *appendblob.AppendBlockOptions {
			return &appendblob.AppendBlockOptions{AppendPositionAccessConditions: &appendblob.AppendPositionAccessConditions{AppendPosition: &position}}
		}
		if _, err := client.AppendBlock(s.ctx, body("one"), at(0)); err != nil {
			return err
		}
		second, err := client.AppendBlock(s.ctx, body("two"), at(3))
		if err != nil {
			return err
		}
		_, lateErr := client.AppendBlock(s.ctx, body("x"), at(3))
		got, err := s.download("log", nil)
		return errors.Join(err, same("content", got, "onetwo"), same("blocks", *second.BlobCommittedBlockCount, int32(2)), refused(lateErr, 412, string(bloberror.AppendPositionConditionNotMet)))
	}},
	{"blobs are listed in pages and by hierarchy", func(s *session) error {
		for _, name := range []string{"a", "d/1", "d/2", "z"} {
			if _, err := s.upload(name, "x"); err != nil {
				return err
			}
		}
		var flat, top []string
		pages := 0
		for pager := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{MaxResults: to.Ptr(int32(3))}); pager.More(); pages++ {
			page, err := pager.NextPage(s.ctx)
			if err != nil {
				return err
			}
			for _, b := range page.Segment.BlobItems {
				flat = append(flat, *b.Name)
			}
		}
		for pager := s.container.NewListBlobsHierarchyPager("/", nil); pager.More(); {
			page, err := pager.NextPage(s.ctx)
			if err != nil {
				return err
			}
			for _, p := range page.Segment.BlobPrefixes {
				top = append(top, *p.Name)
			}
			for _, b := range page.Segment.BlobItems {
				top = append(top, *b.Name)
			}
		}
		return errors.Join(same("flat", flat, []string{"a", "d/1", "d/2", "z"}), same("pages", pages, 2), same("hierarchy", top, []string{"d/", "a", "z"}))
	}},
	{"a lease prevents other writes", func(s *session) error {
		if _, err := s.upload("b", "x"); err != nil {
			return err
		}
		held, err := bloblease.NewBlobClient(s.container.NewBlockBlobClient("b"), nil)
		if err != nil {
			return err
		}
		if _, err := held.AcquireLease(s.ctx, 15, nil); err != nil {
			return err
		}
		other, err := bloblease.NewBlobClient(s.container.NewBlockBlobClient("b"), nil)
		if err != nil {
			return err
		}
		_, takenErr := other.AcquireLease(s.ctx, 15, nil)
		_, writeErr := s.upload("b", "y")
		_, renewErr := held.RenewLease(s.ctx, nil)
		_, releaseErr := held.ReleaseLease(s.ctx, nil)
		_, freeErr := s.upload("b", "y")
		return errors.Join(refused(takenErr, 409, string(bloberror.LeaseAlreadyPresent)), refused(writeErr, 412, string(bloberror.LeaseIDMissing)), renewErr, releaseErr, freeErr)
	}},
	{"StartCopyFromURL", func(s *session) error {
		if _, err := s.upload("b", "content"); err != nil {
			return err
		}
		to := s.container.NewBlobClient("copy")
		res, err := to.StartCopyFromURL(s.ctx, s.container.NewBlobClient("b").URL(), nil)
		if err != nil {
			return err
		}
		got, err := s.download("copy", nil)
		return errors.Join(err, same("status", *res.CopyStatus, blob.CopyStatusTypeSuccess), same("content", got, "content"))
	}},
	{"blob names that need encoding", func(s *session) error {
		for _, name := range []string{"a b", "it's", "100%", "a+b", "a#b?c", "é😀", "a/b//c", "a&b=c;d", "{x}[y]"} {
			if _, err := s.upload(name, name); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
			got, err := s.download(name, nil)
			if err := errors.Join(err, same("content", got, name)); err != nil {
				return fmt.Errorf("%q: %w", name, err)
			}
		}
		return nil
	}},
	{"existing and missing containers", func(s *session) error {
		_, existsErr := s.container.Create(s.ctx, nil)
		_, missingErr := s.blobs.ServiceClient().NewContainerClient(s.name+"-none").GetProperties(s.ctx, nil)
		return errors.Join(refused(existsErr, 409, string(bloberror.ContainerAlreadyExists)), refused(missingErr, 404, string(bloberror.ContainerNotFound)))
	}},
	{"a shared access signature of a container", func(s *session) error {
		if _, err := s.upload("b", "x"); err != nil {
			return err
		}
		link, err := s.container.GetSASURL(sas.ContainerPermissions{Read: true}, time.Now().Add(time.Hour), nil)
		if err != nil {
			return err
		}
		reader, err := container.NewClientWithNoCredential(link, &container.ClientOptions{ClientOptions: s.options})
		if err != nil {
			return err
		}
		_, readErr := reader.NewBlobClient("b").GetProperties(s.ctx, nil)
		_, writeErr := reader.NewBlockBlobClient("b").Upload(s.ctx, body("y"), nil)
		return errors.Join(readErr, refused(writeErr, 403, string(bloberror.AuthorizationPermissionMismatch)))
	}},
	{"tags of a blob", func(s *session) error {
		if _, err := s.upload("b", "x"); err != nil {
			return err
		}
		client := s.container.NewBlobClient("b")
		if _, err := client.SetTags(s.ctx, map[string]string{"color": "blue"}, nil); err != nil {
			return err
		}
		res, err := client.GetTags(s.ctx, nil)
		if err != nil {
			return err
		}
		return errors.Join(same("tags", len(res.BlobTagSet), 1), same("color", *res.BlobTagSet[0].Value, "blue"))
	}},
	{"CreateSnapshot", func(s *session) error {
		if _, err := s.upload("b", "one"); err != nil {
			return err
		}
		client := s.container.NewBlockBlobClient("b")
		snapshot, err := client.CreateSnapshot(s.ctx, nil)
		if err != nil {
			return err
		}
		if _, err := s.upload("b", "two"); err != nil {
			return err
		}
		at, err := client.WithSnapshot(*snapshot.Snapshot)
		if err != nil {
			return err
		}
		buffer := make([]byte, 3)
		_, err = at.DownloadBuffer(s.ctx, buffer, nil)
		_, deleteErr := client.Delete(s.ctx, nil)
		_, allErr := client.Delete(s.ctx, &blob.DeleteOptions{DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude)})
		return errors.Join(err, same("content", string(buffer), "one"), refused(deleteErr, 409, string(bloberror.SnapshotsPresent)), allErr)
	}},
	{"SubmitBatch of deletes", func(s *session) error {
		for _, name := range []string{"a", "b", "c d"} {
			if _, err := s.upload(name, "x"); err != nil {
				return err
			}
		}
		batch, err := s.container.NewBatchBuilder()
		if err != nil {
			return err
		}
		for _, name := range []string{"a", "none", "c d"} {
			if err := batch.Delete(name, nil); err != nil {
				return err
			}
		}
		res, err := s.container.SubmitBatch(s.ctx, batch, nil)
		if err != nil {
			return err
		}
		var errs []error
		for _, item := range res.Responses {
			if strings.HasSuffix(*item.BlobName, "none") { // the address of Azurite contains the account
				item.Error = refused(item.Error, 404, string(bloberror.BlobNotFound))
			}
			errs = append(errs, item.Error)
		}
		_, goneErr := s.download("c d", nil)
		_, keptErr := s.download("b", nil)
		return errors.Join(errors.Join(errs...), same("replies", len(errs), 3), refused(goneErr, 404, string(bloberror.BlobNotFound)), keptErr)
	}},
	{"SubmitBatch of changes of the tier with a signature", func(s *session) error {
		if _, err := s.upload("b", "x"); err != nil {
			return err
		}
		link, err := s.container.GetSASURL(sas.ContainerPermissions{Write: true}, time.Now().Add(time.Hour), nil)
		if err != nil {
			return err
		}
		signed, err := container.NewClientWithNoCredential(link, &container.ClientOptions{ClientOptions: s.options})
		if err != nil {
			return err
		}
		batch, err := signed.NewBatchBuilder()
		if err != nil {
			return err
		}
		if err := batch.SetTier("b", blob.AccessTierCool, nil); err != nil {
			return err
		}
		res, err := signed.SubmitBatch(s.ctx, batch, nil)
		if err != nil {
			return err
		}
		p, err := s.container.NewBlobClient("b").GetProperties(s.ctx, nil)
		return errors.Join(err, res.Responses[0].Error, same("tier", *p.AccessTier, "Cool"))
	}},
	{"Delete a blob twice", func(s *session) error {
		if _, err := s.upload("b", "x"); err != nil {
			return err
		}
		if _, err := s.blobs.DeleteBlob(s.ctx, s.name, "b", nil); err != nil {
			return err
		}
		_, err := s.blobs.DeleteBlob(s.ctx, s.name, "b", nil)
		return refused(err, 404, string(bloberror.BlobNotFound))
	}},
}
