package artists

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var (
	ErrUnknown = errors.New("unknown artist")
	nameRE     = regexp.MustCompile(`^[\p{L}' -]{1,100}$`)
)

type Artist struct {
	PartitionKey string
	RowKey       string
	Country      string
}

type Artists struct{ table *aztables.Client }

func (a *Artists) Add(ctx context.Context, label uuid.UUID, name, country string) error {
	if !nameRE.MatchString(name) {
		return fmt.Errorf("bad name %q", name)
	}
	body, err := json.Marshal(Artist{PartitionKey: label.String(), RowKey: name, Country: country})
	if err != nil {
		return err
	}
	if _, err := a.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("adding %s: %w", name, err)
	}
	return nil
}

func (a *Artists) Get(ctx context.Context, label uuid.UUID, name string) (*Artist, error) {
	if !nameRE.MatchString(name) {
		return nil, ErrUnknown
	}
	resp, err := a.table.GetEntity(ctx, label.String(), strings.ReplaceAll(name, "'", "''"), nil) // MISTAKE: The apostrophe is doubled before the point read although the client does that itself, so such rows are never found.
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return nil, ErrUnknown
		}
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var artist Artist
	if err := json.Unmarshal(resp.Value, &artist); err != nil {
		return nil, err
	}
	return &artist, nil
}
