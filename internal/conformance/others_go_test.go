package conformance

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// canonical spells a name of metadata as net/http does, without the prefix of the header.
func canonical(name string) string { return strings.ToUpper(name[:1]) + strings.ToLower(name[1:]) }

// goMetadata writes and reads with the Go packages.
func goMetadata(t *testing.T, connection string, values map[string]string) metadata {
	ctx := t.Context()
	pointers := map[string]*string{}
	for name, value := range values {
		pointers[name] = &value
	}
	dereferenced := func(found map[string]*string) map[string]string {
		plain := map[string]string{}
		for name, value := range found {
			plain[name] = *value
		}
		return plain
	}
	queues := assert.Must(azqueue.NewServiceClientFromConnectionString(connection, nil))(t)
	blobs := assert.Must(azblob.NewClientFromConnectionString(connection, nil))(t)
	return metadata{
		write: func(name string) map[string]map[string]string {
			assert.Must(queues.CreateQueue(ctx, name, &azqueue.CreateOptions{Metadata: pointers}))(t)
			assert.Must(blobs.CreateContainer(ctx, name, &container.CreateOptions{Metadata: pointers}))(t)
			assert.Must(blobs.UploadBuffer(ctx, name, "b", []byte("x"), &blockblob.UploadBufferOptions{Metadata: pointers}))(t)
			return nil
		},
		read: func(name string) map[string]map[string]string {
			files := blobs.ServiceClient().NewContainerClient(name)
			return map[string]map[string]string{
				"queue":     dereferenced(assert.Must(queues.NewQueueClient(name).GetProperties(ctx, nil))(t).Metadata),
				"container": dereferenced(assert.Must(files.GetProperties(ctx, nil))(t).Metadata),
				"blob":      dereferenced(assert.Must(files.NewBlobClient("b").GetProperties(ctx, nil))(t).Metadata),
			}
		},
	}
}
