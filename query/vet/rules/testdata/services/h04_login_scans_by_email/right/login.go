package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
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

// key returns the row of a user: users are stored under the hash of their address.
func key(email string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(email))))
	return hex.EncodeToString(sum[:])
}

func (r *Repo) FindByEmail(ctx context.Context, email string) (*User, error) {
	k := key(email)
	resp, err := r.users.GetEntity(ctx, k[:4], k, nil)
	if err != nil {
		var re *azcore.ResponseError
		if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
			return nil, ErrUnknown
		}
		return nil, fmt.Errorf("find user: %w", err)
	}
	var u User
	if err := json.Unmarshal(resp.Value, &u); err != nil {
		return nil, err
	}
	return &u, nil
}
