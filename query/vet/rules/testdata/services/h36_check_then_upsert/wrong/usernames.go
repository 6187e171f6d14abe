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
	_, err = names.GetEntity(ctx, name[:2], name, nil)
	if err == nil {
		return ErrTaken
	}
	if !status(err, http.StatusNotFound) {
		return fmt.Errorf("look for %s: %w", name, err)
	}
	_, err = names.UpsertEntity(ctx, raw, nil) // MISTAKE: somebody may claim the name between the read and this write, which then takes it over
	if err != nil {
		return fmt.Errorf("claim %s: %w", name, err)
	}
	return nil
}
