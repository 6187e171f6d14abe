package right

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Member struct {
	PartitionKey, RowKey string
	Email, Name          string
	Hash                 string
}

// Each member has two rows in the partition of the club: "id_<id>" and "mail_<email>".
type Members struct{ c *aztables.Client }

var ErrNoMember = errors.New("no such member")

func (m Members) ByID(ctx context.Context, club, id string) (Member, error) {
	return m.get(ctx, club, "id_"+id)
}

func (m Members) get(ctx context.Context, club, rk string) (v Member, err error) {
	r, err := m.c.GetEntity(ctx, club, rk, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return v, ErrNoMember
	}
	if err != nil {
		return v, err
	}
	err = json.Unmarshal(r.Value, &v)
	return v, err
}

// ByEmail is called on each login.
func (m Members) ByEmail(ctx context.Context, club, mail string) (v Member, err error) {
	return m.get(ctx, club, "mail_"+mail)
}
