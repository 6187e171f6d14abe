package right

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Prefs struct {
	aztables.Entity
	Language string
	Currency string
}

type PrefStore struct {
	t *aztables.Client
}

func domainOf(mail string) string {
	_, d, _ := strings.Cut(mail, "@")
	return d
}

func (s *PrefStore) Put(ctx context.Context, mail string, p Prefs) error {
	mail = strings.ToLower(strings.TrimSpace(mail))
	p.PartitionKey, p.RowKey = domainOf(mail), mail
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = s.t.UpsertEntity(ctx, data, nil)
	return err
}

func (s *PrefStore) Get(ctx context.Context, mail string) (*Prefs, error) {
	mail = strings.ToLower(strings.TrimSpace(mail))
	resp, err := s.t.GetEntity(ctx, domainOf(mail), mail, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return &Prefs{Language: "en", Currency: "EUR"}, nil
	}
	if err != nil {
		return nil, err
	}
	p := new(Prefs)
	return p, json.Unmarshal(resp.Value, p)
}
