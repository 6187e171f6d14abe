package wrong

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// clearPhone removes the phone number of a contact on request of its owner.
func clearPhone(ctx context.Context, contacts *aztables.Client, owner, contact string) error {
	got, err := contacts.GetEntity(ctx, owner, contact, nil)
	if err != nil {
		return err
	}
	var e aztables.EDMEntity
	if err := json.Unmarshal(got.Value, &e); err != nil {
		return err
	}
	if _, found := e.Properties["Phone"]; !found {
		return nil
	}
	delete(e.Properties, "Phone")
	delete(e.Properties, "PhoneVerified")
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = contacts.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{
		IfMatch:    &got.ETag,
		UpdateMode: aztables.UpdateModeMerge, // MISTAKE: merge keeps properties that are absent from the body
	})
	if err != nil {
		return fmt.Errorf("clear phone of %s: %w", contact, err)
	}
	return nil
}

// EraseAll runs clearPhone for each contact of an owner.
func EraseAll(ctx context.Context, contacts *aztables.Client, owner string, ids []string) error {
	for _, id := range ids {
		if err := clearPhone(ctx, contacts, owner, id); err != nil {
			return err
		}
	}
	return nil
}
