package onekey

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type user struct{ PartitionKey, RowKey, Mail string }

type users struct{ table *aztables.Client }

func (u *users) byID(ctx context.Context, id string) (*user, error) {
	pager := u.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{
		Filter: to.Ptr("PartitionKey eq 'users'"), // want `the service reads the whole partition.*onekey, warning`
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var found user
			if err := json.Unmarshal(raw, &found); err != nil {
				return nil, err
			}
			if found.RowKey == id {
				return &found, nil
			}
		}
	}
	return nil, nil
}

func (u *users) withMail(ctx context.Context) (found []user, err error) {
	pager := u.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: to.Ptr("PartitionKey eq 'users'")})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var one user
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, err
			}
			if one.Mail != "" {
				found = append(found, one)
			}
		}
	}
	return found, nil
}

func (u *users) byMail(ctx context.Context, mail string) (*user, error) {
	pager := u.table.NewListEntitiesPager(nil) // want `the whole table is read`
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.Entities {
			var found map[string]any
			if err := json.Unmarshal(raw, &found); err != nil {
				return nil, err
			}
			if found["Mail"] == mail {
				return &user{Mail: mail}, nil
			}
		}
	}
	return nil, nil
}

func (u *users) active(ctx context.Context) *aztables.ListEntitiesOptions {
	u.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Select: to.Ptr("Mail")}) // want `the whole table is read`
	return nil
}

func (u *users) exportAll(ctx context.Context, write func([]byte) error) error {
	pager := u.table.NewListEntitiesPager(nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, raw := range page.Entities {
			if err := write(raw); err != nil {
				return err
			}
		}
	}
	return nil
}
