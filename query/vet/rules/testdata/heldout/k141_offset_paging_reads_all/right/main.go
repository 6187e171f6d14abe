package inbox

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Mail struct {
	RowKey  string
	Subject string
	Read    bool
}

type Inbox struct {
	mails *aztables.Client
}

// Row keys are inverted time stamps, so the newest mail comes first.
// Page returns size mails and the row key to go on after.
func (b *Inbox) Page(ctx context.Context, user uuid.UUID, after uint64, size int) ([]Mail, string, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s' and RowKey gt '%020d'", user, after)
	pager := b.mails.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter})
	var mails []Mail
	for pager.More() && len(mails) < size {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("mails of %s: %w", user, err)
		}
		for _, raw := range page.Entities {
			var m Mail
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, "", err
			}
			mails = append(mails, m)
		}
	}
	mails = mails[:min(size, len(mails))]
	if len(mails) == 0 {
		return nil, "", nil
	}
	return mails, mails[len(mails)-1].RowKey, nil
}
