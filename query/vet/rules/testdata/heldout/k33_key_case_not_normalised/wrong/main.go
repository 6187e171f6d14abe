package users

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

var ErrNotFound = errors.New("no such user")

type User struct {
	PartitionKey string
	RowKey       string
	Name         string
}

type Users struct{ table *aztables.Client }

func fold(mail string) string { return strings.ToLower(strings.TrimSpace(mail)) }

func mailKey(mail string) string { return hex.EncodeToString([]byte(mail)) }

func (u *Users) Save(ctx context.Context, tenant uuid.UUID, mail, name string) error {
	body, err := json.Marshal(User{PartitionKey: tenant.String(), RowKey: mailKey(fold(mail)), Name: name})
	if err != nil {
		return err
	}
	if _, err := u.table.AddEntity(ctx, body, nil); err != nil {
		return fmt.Errorf("saving user: %w", err)
	}
	return nil
}

func (u *Users) Find(ctx context.Context, tenant uuid.UUID, mail string) (*User, error) {
	resp, err := u.table.GetEntity(ctx, tenant.String(), mailKey(mail), nil) // MISTAKE: Save folds the address to lower case but Find does not, and keys are case-sensitive.
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return nil, ErrNotFound
		}
		return nil, fmt.Errorf("finding user: %w", err)
	}
	var user User
	if err := json.Unmarshal(resp.Value, &user); err != nil {
		return nil, fmt.Errorf("decoding user: %w", err)
	}
	return &user, nil
}
