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
func (b *Inbox) Page(ctx context.Context, user uuid.UUID, offset, size int) ([]Mail, int, error) {
	filter := fmt.Sprintf("PartitionKey eq '%s'", user)
	pager := b.mails.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}) // MISTAKE: For every page shown all rows of the user are read and then cut by an offset.
	var mails []Mail
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("mails of %s: %w", user, err)
		}
		for _, raw := range page.Entities {
			var m Mail
			if err := json.Unmarshal(raw, &m); err != nil {
				return nil, 0, err
			}
			mails = append(mails, m)
		}
	}
	from := min(offset, len(mails))
	to := min(from+size, len(mails))
	return mails[from:to], to, nil
}
