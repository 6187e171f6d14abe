package greeting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrMissing = errors.New("missing")

type Texts interface {
	Text(ctx context.Context, tenant uuid.UUID) (string, error)
}

type tableTexts struct{ table *aztables.Client }

func (t tableTexts) Text(ctx context.Context, tenant uuid.UUID) (string, error) {
	resp, err := t.table.GetEntity(ctx, tenant.String(), "greeting", nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return "", ErrMissing
	}
	if err != nil {
		return "", fmt.Errorf("greeting of %s: %w", tenant, err)
	}
	var row struct{ Text string }
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return "", fmt.Errorf("decoding greeting: %w", err)
	}
	return row.Text, nil
}

type withDefault struct {
	Texts
	text string
}

func (w withDefault) Text(ctx context.Context, tenant uuid.UUID) (string, error) {
	text, err := w.Texts.Text(ctx, tenant)
	if errors.Is(err, ErrMissing) {
		return w.text, nil
	}
	return text, err
}

func New(table *aztables.Client, text string) Texts {
	return withDefault{Texts: tableTexts{table}, text: text}
}
