package templates

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
)

type Source struct {
	cl   *azblob.Client
	base string
}

// Template reads a customer's template, or the common one if there is none.
func (s *Source) Template(ctx context.Context, customer, name string) (string, error) {
	for _, dir := range []string{customer, "common"} {
		text, err := s.read(ctx, dir+"/"+name)
		if err == nil {
			return text, nil
		}
		if !bloberror.HasCode(err, bloberror.BlobNotFound) {
			return "", err
		}
	}
	return "", fmt.Errorf("no template %q", name)
}

func (s *Source) read(ctx context.Context, name string) (string, error) {
	r, err := s.cl.DownloadStream(ctx, s.base, name, nil)
	if err != nil {
		return "", fmt.Errorf("template %s: %w", name, err)
	}
	defer r.Body.Close()
	var sb strings.Builder
	if _, err := io.Copy(&sb, io.LimitReader(r.Body, 256<<10)); err != nil {
		return "", err
	}
	return sb.String(), nil
}
