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

var ErrSeatTaken = errors.New("seat is taken")

type Reservations struct {
	tbl *aztables.Client
}

func add(show, row string, cols map[string]any) (aztables.TransactionAction, error) {
	cols["PartitionKey"], cols["RowKey"] = show, row
	b, err := json.Marshal(cols)
	return aztables.TransactionAction{ActionType: aztables.TransactionTypeAdd, Entity: b}, err
}

// Reserve takes the seat and writes the booking in one transaction.
func (r *Reservations) Reserve(ctx context.Context, show, seat, guest string) error {
	s, err := add(show, "seat-"+seat, map[string]any{"Guest": guest})
	if err != nil {
		return err
	}
	b, err := add(show, "booking-"+uuid.NewString(), map[string]any{"Seat": seat, "Guest": guest})
	if err != nil {
		return err
	}
	_, err = r.tbl.SubmitTransaction(ctx, []aztables.TransactionAction{s, b}, nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusConflict { // MISTAKE: the error of a transaction has status 202
		return ErrSeatTaken
	}
	return err
}

func (r *Reservations) Handle(w http.ResponseWriter, req *http.Request) {
	err := r.Reserve(req.Context(), req.PathValue("show"), req.PathValue("seat"), req.FormValue("guest"))
	switch {
	case err == nil:
		w.WriteHeader(http.StatusCreated)
	case errors.Is(err, ErrSeatTaken):
		http.Error(w, err.Error(), http.StatusConflict)
	default:
		http.Error(w, "storage error", http.StatusBadGateway)
	}
}
