package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrUnknown = errors.New("unknown account")

type User struct {
	PartitionKey, RowKey string
	Email                string
	Hash                 string
}

type Store struct{ users *aztables.Client }

func esc(s string) string { return strings.ReplaceAll(s, "'", "''") }

func bucket(email string) string {
	sum := sha256.Sum256([]byte(email))
	return hex.EncodeToString(sum[:1])
}

func key(email string) string {
	return "email_" + url.QueryEscape(email)
}

// ByEmail is called on each login. Register writes the row under bucket(email), key(email).
func (s *Store) ByEmail(ctx context.Context, email string) (*User, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	f := fmt.Sprintf("PartitionKey eq '%s' and RowKey eq '%s'", esc(bucket(email)), esc(key(email)))
	pager := s.users.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &f})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			u := new(User)
			if err := json.Unmarshal(raw, u); err != nil {
				return nil, err
			}
			return u, nil
		}
	}
	return nil, ErrUnknown
}

func (s *Store) Register(ctx context.Context, email, hash string) error {
	email = strings.ToLower(strings.TrimSpace(email))
	raw, err := json.Marshal(User{PartitionKey: bucket(email), RowKey: key(email), Email: email, Hash: hash})
	if err != nil {
		return err
	}
	_, err = s.users.AddEntity(ctx, raw, nil)
	return err
}
