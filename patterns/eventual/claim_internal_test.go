package eventual

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/azpatterns/azpatterns/internal/assert"
)

// A claim that is accepted is printed as it was, and leads only below the prefix of claims.
func FuzzClaim(f *testing.F) {
	const uuid = "0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77"
	zeros := strings.Repeat("0", 64)
	f.Add(claimPrefix+uuid, int64(3), zeros)
	for _, name := range []string{"", claimPrefix, uuid, claimPrefix + strings.ToUpper(uuid), claimPrefix + "../invoices/4711.json", claimPrefix + "{" + uuid + "}", "azp_claim/urn:uuid:" + uuid, claimPrefix + uuid + "?x"} {
		f.Add(name, int64(3), zeros)
	}
	f.Add(claimPrefix+uuid, int64(-1), zeros)
	f.Add(claimPrefix+uuid, int64(1)<<62, "\x1b[2J")
	blobs := assert.Must(container.NewClientWithNoCredential("https://acct.blob.core.windows.net/box?sig=x", nil))(f)
	f.Fuzz(func(t *testing.T, name string, size int64, sum string) {
		cl := assert.Must(json.Marshal(claim{name, size, sum}))(t)
		text := versionPrefix + `1,"id":"op","kind":"k","at":"2026-01-02T03:04:05Z","claim":` + string(cl) + "}"
		e, err := unsigned.parse(text)
		if err != nil {
			if !errors.Is(err, ErrBadMessage) || (&claim{name, size, sum}).valid() {
				t.Errorf("%s: %v", text, err)
			}
			return
		}
		u := assert.Must(url.Parse(blobs.NewBlobClient(e.Claim.Name).URL()))(t)
		if e.Claim.Size < 0 || u.Host != "acct.blob.core.windows.net" || path.Clean(u.Path) != u.Path || u.Path != "/box/"+e.Claim.Name || path.Dir(u.Path)+"/" != "/box/"+claimPrefix {
			t.Errorf("%+v leads to %q", e.Claim, u)
		}
		printed := assert.Must(e.encode(unsigned))(t)
		if back, err := unsigned.parse(printed); err != nil || !reflect.DeepEqual(back, e) {
			b, _ := base64.StdEncoding.DecodeString(printed)
			t.Errorf("%s is printed as %s, %v", text, b, err)
		}
	})
}
