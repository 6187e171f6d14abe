package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrUnknown = errors.New("unknown user")

type User struct {
	PartitionKey string
	RowKey       string
	Email        string
	PasswordHash string
}

type Repo struct {
	users *aztables.Client
}

func (r *Repo) FindByEmail(ctx context.Context, email string) (*User, error) {
	want := strings.ToLower(strings.TrimSpace(email))
	filter := fmt.Sprintf("Email eq '%s'", strings.ReplaceAll(want, "'", "''")) // MISTAKE: no key in the filter: every login reads the whole table
	pager := r.users.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("find user: %w", err)
		}
		if len(page.Entities) > 0 {
			var u User
			if err := json.Unmarshal(page.Entities[0], &u); err != nil {
				return nil, err
			}
			return &u, nil
		}
	}
	return nil, ErrUnknown
}
