package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
)

type Loader struct {
	client    *azblob.Client
	container string
}

type Config struct {
	Interval int      `json:"interval"`
	Hosts    []string `json:"hosts"`
}

// Load is called every few seconds.
func (l *Loader) Load(ctx context.Context, name string) (*Config, error) {
	resp, err := l.client.DownloadStream(ctx, l.container, name, nil)
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return &Config{Interval: 60}, nil
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	dec := json.NewDecoder(io.LimitReader(resp.Body, 1<<20))
	dec.DisallowUnknownFields()
	c := new(Config)
	if err := dec.Decode(c); err != nil {
		return nil, fmt.Errorf("config %s: %w", name, err)
	}
	if c.Interval <= 0 {
		return nil, errors.New("interval must be positive")
	}
	return c, nil
}
