package lastnames

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// The employees with one last name are found through index rows of the department.
type Index struct{ t *aztables.Client }

func (x *Index) Add(ctx context.Context, dept, last, empID string) error {
	pk, rk := dept, "lastname_"+url.QueryEscape(strings.ToLower(last))
	resp, err := x.t.GetEntity(ctx, pk, rk, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		first, err := json.Marshal(map[string]string{"PartitionKey": pk, "RowKey": rk, "EmployeeIDs": empID})
		if err != nil {
			return err
		}
		_, err = x.t.AddEntity(ctx, first, nil)
		return err
	}
	if err != nil {
		return err
	}
	var row struct{ EmployeeIDs string }
	if err := json.Unmarshal(resp.Value, &row); err != nil {
		return err
	}
	body, err := json.Marshal(map[string]string{
		"PartitionKey": pk,
		"RowKey":       rk,
		"EmployeeIDs":  row.EmployeeIDs + "," + empID, // MISTAKE: the list grows without bound, at 64 KiB every add fails
	})
	if err != nil {
		return err
	}
	_, err = x.t.UpdateEntity(ctx, body, &aztables.UpdateEntityOptions{IfMatch: &resp.ETag, UpdateMode: aztables.UpdateModeMerge})
	return err
}
