package blob

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

const rootContainer = "$root"

// checkContainer applies the naming rules of
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
func checkContainer(name string) *restxml.Error {
	switch name {
	case rootContainer, "$logs", "$web":
		return nil
	}
	return restxml.CheckName(name)
}

// checkBlob: 1 to 1,024 characters, at most 254 path segments, no control
// characters.
func checkBlob(name string) *restxml.Error {
	if !utf8.ValidString(name) {
		return restxml.Refuse(http.StatusBadRequest, "InvalidUri", "The requested URI does not represent any resource on the server.")
	}
	if utf8.RuneCountInString(name) > 1024 {
		return restxml.NameLength()
	}
	if strings.Count(name, "/") >= 254 {
		return restxml.InvalidName()
	}
	for _, r := range name {
		if r < 0x20 || r >= 0x7F && r <= 0x9F {
			return restxml.InvalidName()
		}
	}
	return nil
}

// nameXML writes the Name of a listed blob or prefix. What XML cannot hold is
// percent-encoded and marked, as since version 2021-02-12.
func nameXML(x *restxml.XML, name string) {
	for _, r := range name {
		if !rest.LegalXML(r) {
			x.Text("Name", strings.ReplaceAll(url.QueryEscape(name), "+", "%20"), "Encoded", "true")
			return
		}
	}
	x.Text("Name", name)
}
