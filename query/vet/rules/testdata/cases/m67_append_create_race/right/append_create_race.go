package joblog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Log struct {
	c *appendblob.Client
}

func Open(ctx context.Context, logs *container.Client, job string) (*Log, error) {
	c := logs.NewAppendBlobClient("jobs/" + job + ".log")
	_, err := c.Create(ctx, &appendblob.CreateOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: to.Ptr(azcore.ETagAny)},
		},
	})
	if err != nil && !bloberror.HasCode(err, bloberror.BlobAlreadyExists) {
		return nil, fmt.Errorf("open log of %s: %w", job, err)
	}
	return &Log{c: c}, nil
}

// Flush appends the lines as one block, up to 4 MiB. Lines begin with a unique id, readers drop repeated ones.
func (l *Log) Flush(ctx context.Context, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	text := strings.Join(lines, "\n") + "\n"
	if len(text) > 4<<20 {
		return errors.New("too many lines for one block")
	}
	_, err := l.c.AppendBlock(ctx, streaming.NopCloser(strings.NewReader(text)), nil)
	return err
}
