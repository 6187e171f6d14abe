package regions

import (
	"math"
	"net"
	"net/http"
	"strings"
	"time"
)

// Region is one of the two locations of an account.
type Region string

// The regions.
const (
	Primary   Region = "primary"
	Secondary Region = "secondary"
)

// other returns the other region.
func (r Region) other() Region {
	if r == Primary {
		return Secondary
	}
	return Primary
}

// UnknownAge is a MaxAge without a limit: no Last Sync Time is known.
const UnknownAge time.Duration = math.MaxInt64

// Source is where rows were read, and how old they may be. It is a value.
type Source struct {
	// Region is the region that answered. If several requests were necessary, it is Secondary
	// if one of them was answered by the secondary.
	Region Region

	// MaxAge is zero for the primary. For the secondary, every change that was made more than
	// MaxAge before the reply is visible; later ones may be missing. It is computed from the
	// Last Sync Time and the Date of the reply, not from the local clock. It is [UnknownAge]
	// if the Last Sync Time is not known.
	MaxAge time.Duration
}

// suffix follows the name of the account in the addresses of its secondary. The name of an
// account contains no dash.
//
// https://learn.microsoft.com/azure/storage/common/storage-redundancy#read-access-to-data-in-the-secondary-region
const suffix = "-secondary"

// toSecondary returns req, which was signed for the primary, with the address of the secondary, unless it has
// that already. Signatures remain valid: that of a shared key covers the name of the account and the path without the
// suffix, that of a SAS the resource, and a token is for the service.
//
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
func toSecondary(req *http.Request) *http.Request {
	req = req.Clone(req.Context())
	u := req.URL
	if host := u.Hostname(); !strings.Contains(host, ".") || net.ParseIP(host) != nil {
		u.Path, u.RawPath = afterAccount(u.Path), afterAccount(u.RawPath)
	} else {
		label, rest, _ := strings.Cut(u.Host, ".")
		u.Host = strings.TrimSuffix(label, suffix) + suffix + "." + rest
	}
	req.Host = u.Host
	return req
}

// afterAccount adds the suffix to the first segment of a path, which names the account if the
// host does not.
func afterAccount(path string) string {
	if path == "" {
		return ""
	}
	end := 1 + strings.IndexByte(path[1:]+"/", '/')
	return strings.TrimSuffix(path[:end], suffix) + suffix + path[end:]
}
