package usernames

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrTaken = errors.New("the name is taken")

type claim struct {
	PartitionKey string
	RowKey       string
	UserID       string
}

func status(err error, code int) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == code
}

// Claim reserves a name for a user. Names are 3 to 20 small letters.
func Claim(ctx context.Context, names *aztables.Client, name, userID string) error {
	raw, err := json.Marshal(claim{PartitionKey: name[:2], RowKey: name, UserID: userID})
	if err != nil {
		return err
	}
	_, err = names.AddEntity(ctx, raw, nil)
	if status(err, http.StatusConflict) {
		return taken(ctx, names, name, userID)
	}
	if err != nil {
		return fmt.Errorf("claim %s: %w", name, err)
	}
	return nil
}

// taken tells a repeat of the user's own claim from another user's.
func taken(ctx context.Context, names *aztables.Client, name, userID string) error {
	resp, err := names.GetEntity(ctx, name[:2], name, nil)
	if err != nil {
		return err
	}
	var c claim
	if err := json.Unmarshal(resp.Value, &c); err != nil {
		return err
	}
	if c.UserID == userID {
		return nil
	}
	return ErrTaken
}
