package storagetest

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/fault"
)

// public reports whether a request without a credential may do what it asks,
// because the container was made public.
// https://learn.microsoft.com/azure/storage/blobs/anonymous-read-access-configure
func (m *routes) public(r *http.Request, side *rest.Call) bool {
	query := r.URL.Query()
	if r.Header.Get("Authorization") != "" || query.Has("sig") {
		return false
	}
	access := m.access(side.Resource)
	switch fault.Op(side.Op) {
	case fault.BlobGet, fault.BlobHead, fault.BlobGetBlockList:
		return access != "" && query.Get("comp") != "tags"
	case fault.BlobList, fault.BlobGetContainer:
		return access == "container"
	}
	return false
}
