package wrong

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Scanner struct {
	files *container.Client
	scan  func(ctx context.Context, name string) (verdict string, err error)
}

// mark notes the verdict of the virus scanner at the blob.
func (s *Scanner) mark(ctx context.Context, name, verdict string) error {
	c := s.files.NewBlobClient(name)
	props, err := c.GetProperties(ctx, nil)
	if err != nil {
		return err
	}
	meta := map[string]*string{"Scan": &verdict} // MISTAKE: the call below removes all metadata that is not in this map
	_, err = c.SetMetadata(ctx, meta, &blob.SetMetadataOptions{
		AccessConditions: &blob.AccessConditions{
			ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: props.ETag},
		},
	})
	return err
}

// Run scans all files below a folder.
func (s *Scanner) Run(ctx context.Context, folder string) error {
	prefix := strings.TrimSuffix(folder, "/") + "/"
	p := s.files.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix})
	for p.More() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, b := range page.Segment.BlobItems {
			v, err := s.scan(ctx, *b.Name)
			if err != nil {
				return fmt.Errorf("scan %s: %w", *b.Name, err)
			}
			if err := s.mark(ctx, *b.Name, v); err != nil {
				return fmt.Errorf("mark %s: %w", *b.Name, err)
			}
		}
	}
	return nil
}
