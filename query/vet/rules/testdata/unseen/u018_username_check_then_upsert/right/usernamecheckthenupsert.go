package right

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

var errTaken = errors.New("name is taken")

type signup struct{ names *aztables.Client }

func (s signup) reserve(ctx context.Context, name, userID string) error {
	key := strings.ToLower(name)
	row, err := json.Marshal(map[string]string{
		"PartitionKey": key,
		"RowKey":       "owner",
		"UserID":       userID,
	})
	if err != nil {
		return err
	}
	var re *azcore.ResponseError
	_, err = s.names.AddEntity(ctx, row, nil)
	if errors.As(err, &re) && re.StatusCode == http.StatusConflict {
		return errTaken
	}
	return err
}

func (s signup) handle(w http.ResponseWriter, r *http.Request) {
	name := r.FormValue("name")
	if len(name) < 3 || strings.ContainsAny(name, `/\#?'`) {
		http.Error(w, "bad name", http.StatusBadRequest)
		return
	}
	switch err := s.reserve(r.Context(), name, r.FormValue("uid")); {
	case errors.Is(err, errTaken):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, "internal error", http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusCreated)
	}
}
