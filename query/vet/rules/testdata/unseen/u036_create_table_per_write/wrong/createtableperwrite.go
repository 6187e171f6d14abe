package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

type Auditor struct {
	svc   *aztables.ServiceClient
	table string
}

func (a *Auditor) ensure(ctx context.Context) error {
	_, err := a.svc.CreateTable(ctx, a.table, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.ErrorCode == string(aztables.TableAlreadyExists) {
		return nil
	}
	return err
}

func NewAuditor(ctx context.Context, svc *aztables.ServiceClient, table string) (*Auditor, error) {
	a := &Auditor{svc: svc, table: table}
	return a, nil
}

func (a *Auditor) Record(ctx context.Context, actor, action string) error {
	if err := a.ensure(ctx); err != nil { // MISTAKE: a second request for each audit record
		return err
	}
	b, err := json.Marshal(map[string]string{
		"PartitionKey": actor,
		"RowKey":       uuid.NewString(),
		"Action":       action,
	})
	if err != nil {
		return err
	}
	_, err = a.svc.NewClient(a.table).AddEntity(ctx, b, nil)
	return err
}

func (a *Auditor) Wrap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.Record(r.Context(), r.Header.Get("X-User"), r.Method); err != nil {
			http.Error(w, "audit failed", http.StatusServiceUnavailable)
			return
		}
		h.ServeHTTP(w, r)
	})
}
