package gallery

import (
	"context"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

type Picture struct {
	Name, Title string
}

type Gallery struct{ c *container.Client }

func title(md map[string]*string) string {
	for k, v := range md {
		if strings.EqualFold(k, "title") && v != nil {
			return *v
		}
	}
	return ""
}

// Pictures lists an album with the titles.
func (g *Gallery) Pictures(ctx context.Context, album string) ([]Picture, error) {
	var out []Picture
	pager := g.c.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
		Prefix: to.Ptr(album + "/"),
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Segment.BlobItems {
			p, err := g.c.NewBlobClient(*it.Name).GetProperties(ctx, nil) // MISTAKE: one more request per picture, the listing could include the metadata
			if err != nil {
				return nil, err
			}
			out = append(out, Picture{Name: *it.Name, Title: title(p.Metadata)})
		}
	}
	return out, nil
}
