package xmlservice

// since contains the first version in which replies have a header, or their documents an element, by its name. It contains those
// that recordings of the service, or its documentation, show to be missing in earlier versions.
var since = map[string]string{
	"X-Ms-Content-Crc64": sinceCRC64,
	"X-Ms-Creation-Time": "2017-11-09", "Creation-Time": "2017-11-09",
	"X-Ms-Is-Hns-Enabled":           "2019-07-07",
	"X-Ms-Default-Encryption-Scope": "2019-07-07", "DefaultEncryptionScope": "2019-07-07",
	"X-Ms-Deny-Encryption-Scope-Override": "2019-07-07", "DenyEncryptionScopeOverride": "2019-07-07",
	"X-Ms-Immutable-Storage-With-Versioning-Enabled": "2020-10-02", "ImmutableStorageWithVersioningEnabled": "2020-10-02",
}

// sinceCRC64 is the first version with checksums by CRC-64. Before it, a write of content is answered with its MD5.
const sinceCRC64 = "2019-02-02"

// Has reports whether the version of the request has a header or an element.
func (c *Call) Has(name string) bool { return c.Version >= since[name] }
