package comments

import (
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

type Comment struct {
	PartitionKey string
	RowKey       string
	Author       string
	Text         string
}

type Board struct {
	comments *aztables.Client
}

func (b *Board) Post(w http.ResponseWriter, r *http.Request) {
	var c Comment
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<10)).Decode(&c); err != nil {
		http.Error(w, "bad comment", http.StatusBadRequest)
		return
	}
	id := make([]byte, 6)
	if _, err := crand.Read(id); err != nil {
		http.Error(w, "random", http.StatusInternalServerError)
		return
	}
	c.PartitionKey = r.PathValue("article")
	c.RowKey = time.Now().UTC().Format("20060102150405") + "_" + hex.EncodeToString(id)
	body, err := json.Marshal(c)
	if err != nil {
		http.Error(w, "bad comment", http.StatusBadRequest)
		return
	}
	if _, err := b.comments.AddEntity(r.Context(), body, nil); err != nil {
		http.Error(w, "the comment was not saved", http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusCreated)
}
