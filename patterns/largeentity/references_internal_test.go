package largeentity

import (
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/naming"
)

// fuzzTable is a table whose container is "box", and whose blobs begin with "photos/".
func fuzzTable(t testing.TB) *Table[struct{}] {
	t.Helper()
	blobs := assert.Must(container.NewClientWithNoCredential("https://acct.blob.core.windows.net/box?sig=x", nil))(t)
	base := assert.Must(url.Parse("https://acct.blob.core.windows.net/box/"))(t)
	return &Table[struct{}]{blobs: blobs, container: "box", base: base, prefix: "photos/"}
}

// wantInContainer checks where a request for a blob goes.
func wantInContainer(t *testing.T, table *Table[struct{}], name string) {
	t.Helper()
	u, err := url.Parse(table.blobs.NewBlobClient(name).URL())
	assert.NoError(t, err, name)
	if u.Host != "acct.blob.core.windows.net" || u.Path != "/box/"+name || path.Clean(u.Path) != u.Path || u.RawQuery != "sig=x" {
		t.Errorf("%q leads to %q", name, u)
	}
}

// References that are accepted are printed as they were, and lead only to blobs of the container.
func FuzzReferences(f *testing.F) {
	zeros := strings.Repeat("0", 64)
	for _, name := range []string{"photos/people/0b4f6d1e-8a35-4c8e-9f0d-2b8f3f1f9a77", "../elsewhere/x", "a?b#c%2F..", "x/\u202e", "a b+c", ""} {
		text := references{"Photo": {Container: "box", Name: name, Length: 3, SHA256: zeros, Encoding: gzipEncoding}}.marshal()
		f.Add(text)
	}
	for _, text := range []string{"", "{}", `{"version":1}`, `{"version":2,"blobs":{}}`, `{"version":1,"blobs":{"P":{"name":"x","length":-1,"sha256":""}}}`} {
		f.Add(text)
	}
	table := fuzzTable(f)
	f.Fuzz(func(t *testing.T, text string) {
		refs, err := parseReferences(text)
		if err != nil {
			assert.WantError(t, err, ErrCorrupt)
			return
		}
		for _, ref := range refs {
			if !ref.checked() || len(ref.SHA256) != 64 || ref.Length < 0 {
				t.Errorf("accepted %+v", ref)
			}
			wantInContainer(t, table, ref.Name)
		}
		again := assert.Must(parseReferences(refs.marshal()))(t)
		assert.EqualMaps(t, again, refs)
	})
}

// An address that another program has written is that of a blob of the container, or leads nowhere.
func FuzzAddress(f *testing.F) {
	for _, address := range []string{
		"https://acct.blob.core.windows.net/box/photos/x", "https://ACCT.blob.core.windows.net/box/a%20b%2Fc", "http://evil.example/box/photos/x", "//acct.blob.core.windows.net/box/x",
		"https://acct.blob.core.windows.net/box/../elsewhere/x", "https://acct.blob.core.windows.net/box/%2e%2e/elsewhere/x", "https://acct.blob.core.windows.net/box/x?snapshot=1",
		"https://u:p@acct.blob.core.windows.net/box/x", "\x1b[2J", "", "box/x",
	} {
		f.Add(address)
	}
	table := fuzzTable(f)
	f.Fuzz(func(t *testing.T, address string) {
		ref := table.refAt(address)
		if ref.URL != address || ref.Length != 0 || ref.checked() {
			t.Errorf("%q: %+v", address, ref)
		}
		if ref.Container == "" {
			return
		}
		if ref.Container != "box" || !naming.ValidBlob(ref.Name) {
			t.Errorf("%q: %+v", address, ref)
		}
		wantInContainer(t, table, ref.Name)
		if back := table.refAt(table.address(ref.Name)); back.Container != ref.Container || back.Name != ref.Name {
			t.Errorf("%q is printed as that of %+v", address, back)
		}
	})
}
