package lines

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Log struct {
	logs *container.Client
	name string
}

// Add appends a line to the log, which was created when the job began. It is
// called by all tasks of the job, and a job writes some hundred lines.
func (l *Log) Add(ctx context.Context, line string) error {
	if line == "" || len(line) > 1000 || strings.ContainsAny(line, "\r\n") {
		return errors.New("not a line")
	}
	b := l.logs.NewAppendBlobClient(l.name)
	if _, err := b.AppendBlock(ctx, streaming.NopCloser(strings.NewReader(line+"\n")), nil); err != nil {
		return fmt.Errorf("writing log %s: %w", l.name, err)
	}
	return nil
}
