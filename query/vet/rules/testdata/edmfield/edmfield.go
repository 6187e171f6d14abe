package edmfield

import (
	"context"
	"encoding/json"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type event struct {
	aztables.Entity
	When     aztables.EDMDateTime // want `in a plain struct When is written without its type.*Edm.DateTime.*edmfield, error`
	Size     aztables.EDMInt64    `json:"size"` // want `size is written without its type`
	Id       aztables.EDMGUID
	IdType   string              `json:"Id@odata.type"`
	Optional *aztables.EDMBinary `json:",omitempty"` // want `Optional is written`
}

type message struct{ When aztables.EDMDateTime } // no entity

func write(ctx context.Context, table *aztables.Client, m message) error {
	entity, err := json.Marshal(&event{})
	if err != nil {
		return err
	}
	if _, err = table.UpsertEntity(ctx, entity, nil); err != nil {
		return err
	}
	_, err = json.Marshal(m)
	return err
}
