package wrong

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
)

type Section struct {
	Start, End int64 // End is the offset behind the last byte
}

type Bundle struct {
	client   *blob.Client
	sections map[string]Section
}

func (b *Bundle) open(ctx context.Context, name string) (io.ReadCloser, error) {
	s, ok := b.sections[name]
	if !ok {
		return nil, fmt.Errorf("no section %q", name)
	}
	if s.End <= s.Start {
		return io.NopCloser(strings.NewReader("")), nil
	}
	resp, err := b.client.DownloadStream(ctx, &blob.DownloadStreamOptions{
		Range: blob.HTTPRange{
			Offset: s.Start,
			Count:  s.End, // MISTAKE: this is a number of bytes, not the end offset
		},
	})
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", name, err)
	}
	return resp.NewRetryReader(ctx, &blob.RetryReaderOptions{MaxRetries: 4}), nil
}

// Extract copies one section to w.
func (b *Bundle) Extract(ctx context.Context, name string, w io.Writer) (int64, error) {
	r, err := b.open(ctx, name)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, r)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return n, err
}
