package votes

import (
	"errors"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type API struct {
	conn string
	svc  *aztables.ServiceClient
}

func NewAPI(conn string) (*API, error) {
	if conn == "" {
		return nil, errors.New("connection string is missing")
	}
	svc, err := aztables.NewServiceClientFromConnectionString(conn, nil)
	if err != nil {
		return nil, err
	}
	return &API{conn: conn, svc: svc}, nil
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp, err := a.svc.NewClient("votes").GetEntity(r.Context(), r.PathValue("poll"), r.PathValue("choice"), nil)
	var re *azcore.ResponseError
	switch {
	case errors.As(err, &re) && re.StatusCode == http.StatusNotFound:
		http.NotFound(w, r)
		return
	case err != nil:
		http.Error(w, "storage", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(resp.Value); err != nil {
		return
	}
}
