package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrNotFound = errors.New("setting not found")

type Value struct {
	Text string
}

type Reader struct {
	client *aztables.Client
}

func NewReader(c *aztables.Client) *Reader {
	return &Reader{client: c}
}

// Get reads one setting of an application.
func (r *Reader) Get(ctx context.Context, app, name string) (Value, error) {
	resp, err := r.client.GetEntity(ctx, app, name, nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return Value{}, ErrNotFound
		}
		return Value{}, fmt.Errorf("read setting %s/%s: %w", app, name, err)
	}
	var v Value
	if err := json.Unmarshal(resp.Value, &v); err != nil {
		return Value{}, fmt.Errorf("decode setting %s/%s: %w", app, name, err)
	}
	return v, nil
}

// GetOr returns a default for a setting that no one made.
func (r *Reader) GetOr(ctx context.Context, app, name, def string) (string, error) {
	v, err := r.Get(ctx, app, name)
	if errors.Is(err, ErrNotFound) {
		return def, nil
	}
	return v.Text, err
}
