package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type attempt[T any] func(ctx context.Context) (T, error)

func transient(err error) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && (re.StatusCode == http.StatusTooManyRequests || re.StatusCode >= 500)
}

func retry[T any](ctx context.Context, n int, f attempt[T]) (v T, err error) {
	for i := range n {
		v, err = f(ctx)
		if err == nil { // MISTAKE: repeats immediately whatever the error is
			return v, err
		}
		log.Printf("attempt %d: transient=%t: %v", i+1, transient(err), err)
	}
	return v, err
}

type Directory struct{ staff *aztables.Client }

// Publish stores the office hours of a member of staff.
func (d Directory) Publish(ctx context.Context, faculty, name, hours string) error {
	b, err := json.Marshal(map[string]string{"PartitionKey": faculty, "RowKey": name, "Hours": hours})
	if err != nil {
		return err
	}
	_, err = retry(ctx, 6, func(ctx context.Context) (aztables.UpsertEntityResponse, error) {
		return d.staff.UpsertEntity(ctx, b, nil)
	})
	return err
}
