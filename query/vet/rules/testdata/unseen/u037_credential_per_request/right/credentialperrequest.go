package right

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type weatherAPI struct {
	account  string
	stations *aztables.Client
}

func (a *weatherAPI) open() (*aztables.Client, error) {
	cred, err := azidentity.NewManagedIdentityCredential(nil)
	if err != nil {
		return nil, err
	}
	return aztables.NewClient(fmt.Sprintf("https://%s.table.core.windows.net/stations", a.account), cred, nil)
}

func newWeatherAPI(account string) (*weatherAPI, error) {
	if account == "" {
		return nil, errors.New("storage account not configured")
	}
	a := &weatherAPI{account: account}
	c, err := a.open()
	if err != nil {
		return nil, err
	}
	a.stations = c
	return a, nil
}

func (a *weatherAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp, err := a.stations.GetEntity(r.Context(), r.PathValue("country"), r.PathValue("id"), nil)
	var re *azcore.ResponseError
	if errors.As(err, &re) && re.StatusCode == http.StatusNotFound {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, "storage error", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(resp.Value)
}
