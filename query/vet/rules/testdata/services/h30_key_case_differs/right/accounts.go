package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type index struct {
	PartitionKey string
	RowKey       string
	AccountID    string
}

// escape replaces the characters that a key may not hold.
var escape = strings.NewReplacer("/", "=2f", "\\", "=5c", "#", "=23", "?", "=3f", "=", "=3d", "'", "=27", "%", "=25", "+", "=2b")

func mailKey(mail string) string {
	return escape.Replace(strings.ToLower(strings.TrimSpace(mail)))
}

type Accounts struct {
	mails  *aztables.Client
	tenant string
}

func (a *Accounts) Register(ctx context.Context, mail, accountID string) error {
	row := index{PartitionKey: a.tenant, RowKey: mailKey(mail), AccountID: accountID}
	raw, err := json.Marshal(row)
	if err != nil {
		return err
	}
	if _, err := a.mails.AddEntity(ctx, raw, nil); err != nil {
		return fmt.Errorf("register %s: %w", accountID, err)
	}
	return nil
}

func (a *Accounts) Lookup(ctx context.Context, mail string) (string, error) {
	resp, err := a.mails.GetEntity(ctx, a.tenant, mailKey(mail), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var row index
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return "", err
	}
	return row.AccountID, nil
}
