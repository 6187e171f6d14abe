package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Donation struct {
	aztables.Entity
	Amount aztables.EDMInt64 // MISTAKE: without the odata.type annotation this is stored as a string
	Donor  string
}

type Fund struct {
	table *aztables.Client
	name  string
}

func (f *Fund) Give(ctx context.Context, donor string, cents int64) error {
	d := Donation{Amount: aztables.EDMInt64(cents), Donor: donor}
	d.PartitionKey = f.name
	d.RowKey = uuid.NewString()
	b, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = f.table.AddEntity(ctx, b, nil)
	return err
}

// Large lists donors of at least min cents.
func (f *Fund) Large(ctx context.Context, min int64) ([]string, error) {
	expr := fmt.Sprintf("PartitionKey eq '%s' and Amount ge %dL", f.name, min)
	var donors []string
	pager := f.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &expr})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var d Donation
			if err := json.Unmarshal(raw, &d); err != nil {
				return nil, err
			}
			donors = append(donors, d.Donor)
		}
	}
	return donors, nil
}
