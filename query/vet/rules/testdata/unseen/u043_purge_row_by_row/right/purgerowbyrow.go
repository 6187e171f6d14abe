package right

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

// PartitionKey is the service, RowKey begins with the day. A scheduled job makes the tables ahead of time.
type Traces struct {
	svc  *aztables.ServiceClient
	base string
}

func (t Traces) tableFor(day time.Time) *aztables.Client {
	return t.svc.NewClient(t.base + day.UTC().Format("200601"))
}

func (t Traces) Put(ctx context.Context, service, id string, at time.Time, body string) error {
	b, err := json.Marshal(map[string]string{
		"PartitionKey": service,
		"RowKey":       at.UTC().Format("20060102") + "-" + id,
		"Body":         body,
	})
	if err != nil {
		return err
	}
	_, err = t.tableFor(at).AddEntity(ctx, b, nil)
	return err
}

// DropMonth removes all traces of the month of the given day.
func (t Traces) DropMonth(ctx context.Context, day time.Time) error {
	c := t.tableFor(day)
	_, err := c.Delete(ctx, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		return nil
	}
	return err
}
