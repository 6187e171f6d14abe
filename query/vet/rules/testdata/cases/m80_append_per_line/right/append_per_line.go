package shiplog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/appendblob"
)

type Shipper struct {
	blob *appendblob.Client
}

// Ship reads lines until the end of the input and appends them to the blob of the hour. Readers drop repeated lines by their ids.
func (s *Shipper) Ship(ctx context.Context, in io.Reader) error {
	sc := bufio.NewScanner(in)
	var buf bytes.Buffer
	flush := func() error {
		if buf.Len() == 0 {
			return nil
		}
		_, err := s.blob.AppendBlock(ctx, streaming.NopCloser(bytes.NewReader(buf.Bytes())), nil)
		if err != nil {
			return fmt.Errorf("append: %w", err)
		}
		buf.Reset()
		return nil
	}
	for sc.Scan() {
		buf.Write(sc.Bytes())
		buf.WriteByte('\n')
		if buf.Len() > 1<<20 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return errors.Join(sc.Err(), flush())
}
