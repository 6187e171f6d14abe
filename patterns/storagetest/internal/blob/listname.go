package blob

import (
	"net/url"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// nameXML writes the Name of a listed blob or prefix. A name with characters that XML
// does not allow is percent-encoded and marked, as in version 2021-02-12 and later.
func nameXML(x *xmlservice.XML, name string) {
	for _, r := range name {
		if !reply.LegalXML(r) {
			x.Text("Name", strings.ReplaceAll(url.QueryEscape(name), "+", "%20"), "Encoded", "true")
			return
		}
	}
	x.Text("Name", name)
}
