package thumbs

import (
	"context"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

type Size struct{ Width, Height int }

type Pictures struct {
	client    *azblob.Client
	container string
}

// Measure reads the head of a picture and returns its size.
func (p *Pictures) Measure(ctx context.Context, name string) (Size, error) {
	resp, err := p.client.DownloadStream(ctx, p.container, name, nil)
	if err != nil {
		return Size{}, fmt.Errorf("picture %s: %w", name, err)
	}
	defer resp.Body.Close()
	cfg, _, err := image.DecodeConfig(resp.Body)
	if err != nil {
		return Size{}, fmt.Errorf("picture %s: %w", name, err)
	}
	return Size{cfg.Width, cfg.Height}, nil
}

// MeasureAll returns the sizes of several pictures.
func (p *Pictures) MeasureAll(ctx context.Context, names []string) (map[string]Size, error) {
	sizes := make(map[string]Size, len(names))
	for _, n := range names {
		s, err := p.Measure(ctx, n)
		if err != nil {
			return nil, err
		}
		sizes[n] = s
	}
	return sizes, nil
}
