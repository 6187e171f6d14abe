package usernames

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var ErrTaken = errors.New("name is taken")

type Names interface {
	Claim(ctx context.Context, name, owner string) error
}

type names struct{ t *aztables.Client }

func New(t *aztables.Client) Names { return &names{t} }

func isStatus(err error, code int) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == code
}

// Claim leaves the name to the first owner that asks.
func (n *names) Claim(ctx context.Context, name, owner string) error {
	name = strings.ToLower(name)
	body, err := json.Marshal(map[string]string{
		"PartitionKey": name,
		"RowKey":       "claim",
		"Owner":        owner,
	})
	if err != nil {
		return err
	}
	if _, err := n.t.GetEntity(ctx, name, "claim", nil); err == nil {
		return ErrTaken
	} else if !isStatus(err, http.StatusNotFound) {
		return err
	}
	_, err = n.t.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}) // MISTAKE: two callers can both find nothing, the second overwrites the first
	return err
}
