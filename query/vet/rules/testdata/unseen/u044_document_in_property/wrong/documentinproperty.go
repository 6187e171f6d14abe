package wrong

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/google/uuid"
)

type contracts struct {
	rows  *aztables.Client
	files *azblob.Client
}

const maxUpload = 8 << 20

func (c *contracts) upload(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpload))
	if err != nil {
		http.Error(w, "upload too large", http.StatusRequestEntityTooLarge)
		return
	}
	party, id := r.PathValue("party"), uuid.NewString()
	row := map[string]any{
		"PartitionKey": party,
		"RowKey":       id,
		"Size":         len(text),
	}
	row["Text"] = string(text) // MISTAKE: a string property ends at 64 KiB, uploads may have 8 MiB
	body, err := json.Marshal(row)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := c.rows.AddEntity(r.Context(), body, nil); err != nil {
		http.Error(w, "not stored", http.StatusBadGateway)
		return
	}
	w.Header().Set("Location", "/contracts/"+id)
	w.WriteHeader(http.StatusCreated)
}
