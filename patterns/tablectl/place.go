package tablectl

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/sdkerr"
)

// place is where a backup is. A name that does not exist is fs.ErrNotExist.
type place interface {
	// create stores what write writes, or nothing if there is an error or a crash.
	create(ctx context.Context, name string, write func(io.Writer) error) error
	open(ctx context.Context, name string) (io.ReadCloser, error)
	remove(ctx context.Context, name string) error // also if it does not exist
}

// blobPlace begins the argument for a container.
const blobPlace = "blob:"

// openPlace opens a folder, or blob:CONTAINER or blob:CONTAINER/PREFIX of the second account.
func (c *cli) openPlace(ctx context.Context, name string, create bool) (place, error) {
	name, isBlob := strings.CutPrefix(name, blobPlace)
	if !isBlob {
		if create {
			return folder(name), os.MkdirAll(name, 0o700)
		}
		return folder(name), nil
	}
	name, prefix, _ := strings.Cut(name, "/")
	client, err := c.to.Container(name)
	if err == nil && create {
		if _, err = client.Create(ctx, nil); bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
			err = nil
		}
		err = blobError("create container", err)
	}
	return &blobs{client, prefix}, err
}

type folder string

func (f folder) create(_ context.Context, name string, write func(io.Writer) error) error {
	name = filepath.Join(string(f), name)
	out, err := os.OpenFile(name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err = cmp.Or(write(out), out.Sync(), out.Close()); err != nil {
		return cmp.Or(err, os.Remove(name+".tmp"))
	}
	return os.Rename(name+".tmp", name)
}

func (f folder) open(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(f), name))
}

func (f folder) remove(_ context.Context, name string) error {
	if err := os.Remove(filepath.Join(string(f), name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// blobs is a prefix of a container. Its memory is two blocks.
type blobs struct {
	client *container.Client
	prefix string
}

// blockSize permits blobs of 390 GiB.
const blockSize = 8 << 20

func (b *blobs) blob(name string) *blockblob.Client {
	return b.client.NewBlockBlobClient(path.Join(b.prefix, name))
}

func (b *blobs) create(ctx context.Context, name string, write func(io.Writer) error) error {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends when in is closed
		err := write(out)
		out.CloseWithError(err) // nil is io.EOF
		done <- err
	}()
	_, err := b.blob(name).UploadStream(ctx, in, &blockblob.UploadStreamOptions{BlockSize: blockSize})
	in.CloseWithError(io.ErrClosedPipe)
	if failed := <-done; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return failed
	}
	return blobError("write blob", err)
}

func (b *blobs) open(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := b.blob(name).DownloadStream(ctx, nil)
	if err != nil {
		return nil, blobError("read blob", err)
	}
	return r.NewRetryReader(ctx, nil), nil
}

func (b *blobs) remove(ctx context.Context, name string) error {
	if _, err := b.blob(name).Delete(ctx, nil); !bloberror.HasCode(err, bloberror.BlobNotFound) {
		return blobError("delete blob", err)
	}
	return nil
}

func blobError(op string, err error) error {
	if err == nil {
		return nil
	}
	e := sdkerr.New(op, err)
	if e.Status == 404 {
		return errors.Join(fs.ErrNotExist, e)
	}
	return e
}
