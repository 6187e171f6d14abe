package joblog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Log struct {
	c *appendblob.Client
}

func Open(ctx context.Context, logs *container.Client, job string) (*Log, error) {
	c := logs.NewAppendBlobClient("jobs/" + job + ".log")
	_, err := c.Create(ctx, nil) // MISTAKE: Create overwrites, a second process that opens the log wipes the lines of the first
	if err != nil {
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
