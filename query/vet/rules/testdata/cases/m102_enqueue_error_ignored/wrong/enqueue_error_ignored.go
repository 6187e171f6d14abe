package signup

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

type Signup struct {
	accounts *aztables.Client
	mails    *azqueue.QueueClient
}

// Register keeps the account and orders the welcome mail. It may be called again after an error.
func (s *Signup) Register(ctx context.Context, realm, name, mail string) error {
	body, err := json.Marshal(map[string]string{"PartitionKey": realm, "RowKey": url.QueryEscape(name), "Mail": mail})
	if err != nil {
		return err
	}
	_, err = s.accounts.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeMerge})
	if err != nil {
		return fmt.Errorf("account %s: %w", name, err)
	}
	note, err := json.Marshal(map[string]string{"to": mail, "template": "welcome"})
	if err != nil {
		return err
	}
	_, _ = s.mails.EnqueueMessage(ctx, string(note), nil) // MISTAKE: when this fails the mail is never sent and no one learns of it
	return nil
}
