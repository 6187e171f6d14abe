package shiplog

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
)

type Shipper struct {
	blob *appendblob.Client
}

// Ship reads lines until the end of the input and appends them to the blob of the hour. Readers drop repeated lines by their ids.
func (s *Shipper) Ship(ctx context.Context, in io.Reader) error {
	sc := bufio.NewScanner(in)
	for sc.Scan() {
		line := sc.Text() + "\n"
		_, err := s.blob.AppendBlock(ctx, streaming.NopCloser(strings.NewReader(line)), nil) // MISTAKE: one request per line, and the blob is full after 50000 of them
		if err != nil {
			return fmt.Errorf("append: %w", err)
		}
	}
	return sc.Err()
}
