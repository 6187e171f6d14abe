package right

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
)

const flagsPartition = "flags"

type flagServer struct {
	flags *aztables.Client
	log   *slog.Logger
}

func (s *flagServer) toggle(w http.ResponseWriter, r *http.Request) {
	env, flag := r.PathValue("env"), r.PathValue("flag")
	on := r.URL.Query().Get("state") == "on"

	resp, err := s.flags.GetEntity(r.Context(), flagsPartition, env, nil)
	if err != nil {
		s.log.Error("read flags", "env", env, "err", err)
		http.Error(w, "storage unavailable", http.StatusBadGateway)
		return
	}
	var doc aztables.EDMEntity
	if err = json.Unmarshal(resp.Value, &doc); err != nil {
		http.Error(w, "corrupt flags", http.StatusInternalServerError)
		return
	}
	doc.Properties[flag] = on
	raw, err := json.Marshal(doc)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	opts := &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeReplace, IfMatch: &resp.ETag}
	if _, err = s.flags.UpdateEntity(r.Context(), raw, opts); err != nil {
		s.log.Error("write flags", "env", env, "err", err)
		http.Error(w, "not saved, try again", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
