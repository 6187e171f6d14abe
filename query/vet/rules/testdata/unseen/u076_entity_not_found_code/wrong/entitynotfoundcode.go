package wrong

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Voucher struct {
	PartitionKey string
	RowKey       string
	Percent      int32
	Until        aztables.EDMDateTime
}

type vouchers struct {
	*aztables.Client
}

var errUnknown = errors.New("unknown voucher")

func (v vouchers) find(ctx context.Context, campaign, code string) (*Voucher, error) {
	resp, err := v.GetEntity(ctx, campaign, code, nil)
	if re := (*azcore.ResponseError)(nil); errors.As(err, &re) {
		switch aztables.TableErrorCode(re.ErrorCode) {
		case aztables.EntityNotFound: // MISTAKE: the service answers ResourceNotFound for a missing row
			return nil, errUnknown
		}
	}
	if err != nil {
		return nil, err
	}
	out := &Voucher{}
	return out, json.Unmarshal(resp.Value, out)
}

func (v vouchers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got, err := v.find(r.Context(), r.PathValue("campaign"), r.PathValue("code"))
	if errors.Is(err, errUnknown) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	if time.Now().After(time.Time(got.Until)) {
		http.Error(w, "expired", http.StatusGone)
		return
	}
	fmt.Fprintf(w, "%d", got.Percent)
}
