package lastnames

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// The employees with one last name are found through index rows of the department.
type Index struct{ t *aztables.Client }

func (x *Index) Add(ctx context.Context, dept, last, empID string) error {
	pk, rk := dept, "lastname_"+url.QueryEscape(strings.ToLower(last))+"_"+empID
	body, err := json.Marshal(map[string]string{
		"PartitionKey": pk,
		"RowKey":       rk,
		"EmployeeID":   empID,
	})
	if err != nil {
		return err
	}
	_, err = x.t.UpsertEntity(ctx, body, &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
	return err
}
