package templates

import (
	"context"
	"fmt"
	"html/template"
	"io"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

const maxTemplate = 256 << 10

type Loader struct {
	client    *azblob.Client
	container string
	mu        sync.Mutex
	cache     map[string]*template.Template
}

func NewLoader(client *azblob.Client, container string) *Loader {
	return &Loader{client: client, container: container, cache: map[string]*template.Template{}}
}

// Load returns the parsed template with the given name.
func (l *Loader) Load(ctx context.Context, name string) (*template.Template, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t, ok := l.cache[name]; ok {
		return t, nil
	}
	resp, err := l.client.DownloadStream(ctx, l.container, name, nil) // MISTAKE: The body of the download is never closed, so its connection is lost for the pool.
	if err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxTemplate))
	if err != nil {
		return nil, fmt.Errorf("reading template %s: %w", name, err)
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("parsing template: %w", err)
	}
	l.cache[name] = t
	return t, nil
}
