package blob_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

func TestSDKSetsAndReadsTags(t *testing.T) {
	ctx := t.Context()
	b := newContainer(t).NewBlockBlobClient("b")
	up := assert.Must(b.Upload(ctx, body("x"), &blockblob.UploadOptions{Tags: map[string]string{"a b": "1+1", "c": ""}}))(t)
	got, err := b.GetTags(ctx, nil)
	assert.NoError(t, err)
	assert.Equal(assert.Now(t), len(got.BlobTagSet), 2)
	assert.NoError(t, assert.ErrorOf(b.SetTags(ctx, map[string]string{"d": "4"}, nil)))
	p, err := b.GetProperties(ctx, nil)
	if err != nil || *p.TagCount != 1 || *p.ETag != *up.ETag {
		t.Errorf("tags must not change the ETag: %+v, %v", p, err)
	}
	_, err = b.SetTags(ctx, map[string]string{"d": "<"}, nil)
	wantCode(t, err, "InvalidTag")
}

func TestSDKSetsServiceProperties(t *testing.T) {
	s := newService(t)
	ctx := t.Context()
	metrics := &service.Metrics{Version: to.Ptr("1.0"), Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(false), RetentionPolicy: &service.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr[int32](3)}}
	_, err := s.SetProperties(ctx, &service.SetPropertiesOptions{
		HourMetrics: metrics, DefaultServiceVersion: to.Ptr("2020-10-02"),
		Logging:               &service.Logging{Version: to.Ptr("1.0"), Delete: to.Ptr(true), Read: to.Ptr(false), Write: to.Ptr(true), RetentionPolicy: &service.RetentionPolicy{Enabled: to.Ptr(false)}},
		DeleteRetentionPolicy: &service.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr[int32](5)},
		StaticWebsite:         &service.StaticWebsite{Enabled: to.Ptr(true), IndexDocument: to.Ptr("i.html")},
		CORS:                  []*service.CORSRule{{AllowedOrigins: to.Ptr("*"), AllowedMethods: to.Ptr("GET,PUT"), AllowedHeaders: to.Ptr("x"), ExposedHeaders: to.Ptr("y"), MaxAgeInSeconds: to.Ptr[int32](9)}},
	})
	assert.NoError(t, err)
	assert.NoError(t, assert.ErrorOf(s.SetProperties(ctx, &service.SetPropertiesOptions{MinuteMetrics: metrics})))
	p, err := s.GetProperties(ctx, nil)
	assert.NoError(t, err)
	if !*p.HourMetrics.Enabled || !*p.MinuteMetrics.Enabled || *p.MinuteMetrics.RetentionPolicy.Days != 3 || !*p.Logging.Delete || *p.DefaultServiceVersion != "2020-10-02" ||
		*p.DeleteRetentionPolicy.Days != 5 || *p.StaticWebsite.IndexDocument != "i.html" || len(p.CORS) != 1 || *p.CORS[0].MaxAgeInSeconds != 9 {
		t.Errorf("%+v", p)
	}
	_, err = s.SetProperties(ctx, &service.SetPropertiesOptions{CORS: []*service.CORSRule{{AllowedOrigins: to.Ptr("*"), AllowedMethods: to.Ptr("FETCH"), AllowedHeaders: to.Ptr(""), ExposedHeaders: to.Ptr(""), MaxAgeInSeconds: to.Ptr[int32](9)}}})
	wantCode(t, err, bloberror.InvalidXMLNodeValue)
	_, err = s.SetProperties(ctx, &service.SetPropertiesOptions{CORS: []*service.CORSRule{{AllowedOrigins: to.Ptr("*")}}})
	wantCode(t, err, bloberror.InvalidXMLDocument)
}

func TestPoliciesAndPublicAccessCanBeRead(t *testing.T) {
	s := filled(t)
	doc := func(start string) string {
		return "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Start>" + start + "</Start><Permission>rl</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>"
	}
	want := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, start := range []string{"2030-01-02", "2030-01-02T00:00Z", "2030-01-02T00:00:00Z", "2030-01-02T00:00:00.0000000Z"} {
		servicetest.Send(t, s, "PUT", "/c11?restype=container&comp=acl", doc(start), "x-ms-blob-public-access", "blob").Want(t, 200, "")
		p := s.Policies("c11")
		if len(p) != 1 || p[0].ID != "p" || !p[0].Start.Equal(want) || !p[0].Expiry.IsZero() || p[0].Permission != "rl" || s.PublicAccess("c11") != "blob" {
			t.Errorf("%s: %+v, %q", start, p, s.PublicAccess("c11"))
		}
	}
	if a := servicetest.Send(t, s, "GET", "/c11?restype=container&comp=acl", ""); !strings.Contains(a.Body, "<Start>2030-01-02T00:00:00.0000000Z</Start>") || a.Header.Get("X-Ms-Blob-Public-Access") != "blob" {
		t.Error(a.Body)
	}
	servicetest.Send(t, s, "PUT", "/c11?restype=container&comp=acl", doc("tomorrow")).Want(t, 400, "InvalidXmlNodeValue")
	servicetest.Send(t, s, "PUT", "/c11?restype=container&comp=acl", "").Want(t, 200, "")
	if s.Policies("c11") != nil || s.PublicAccess("c11") != "" || s.Policies("none") != nil || s.PublicAccess("none") != "" {
		t.Error("an empty Set Container ACL removes everything")
	}
}

func TestSDKSetsContainerMetadataAndChangesItsETag(t *testing.T) {
	c := newContainer(t)
	before := assert.Must(c.GetProperties(t.Context(), nil))(t)
	assert.NoError(t, assert.ErrorOf(c.SetMetadata(t.Context(), &container.SetMetadataOptions{Metadata: map[string]*string{"a": to.Ptr("1")}})))
	after, err := c.GetProperties(t.Context(), nil)
	if err != nil || *after.Metadata["A"] != "1" || *after.ETag == *before.ETag {
		t.Errorf("%+v, %v", after, err)
	}
}

func TestABlobFromAURLHasTheSourcesPropertiesUnlessItSetsThem(t *testing.T) {
	s := filled(t)
	const from = "https://account.example/c11/b"
	servicetest.Send(t, s, "PUT", "/c11/b?comp=properties", "", "x-ms-blob-content-type", "text/plain", "x-ms-blob-content-language", "en").Want(t, 200, "")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=metadata", "", "x-ms-meta-a", "1").Want(t, 200, "")
	for _, c := range []struct {
		why               string
		head              []string
		kind, lang, metaA string
	}{
		{"all of the source", nil, "text/plain", "en", "1"},
		{"own type", []string{"x-ms-blob-content-type", "text/css"}, "text/css", "en", "1"},
		{"own metadata", []string{"x-ms-meta-b", "2"}, "text/plain", "en", ""},
		{"no properties", []string{"x-ms-copy-source-blob-properties", "false"}, "application/octet-stream", "", "1"},
	} {
		servicetest.Send(t, s, "PUT", "/c11/n", "", append(c.head, "x-ms-blob-type", "BlockBlob", "x-ms-copy-source", from)...).Want(t, 201, "")
		a := servicetest.Send(t, s, "GET", "/c11/n", "")
		if a.Body != "0123456789" || a.Header.Get("Content-Type") != c.kind || a.Header.Get("Content-Language") != c.lang || a.Header.Get("X-Ms-Meta-A") != c.metaA {
			t.Errorf("%s: %v", c.why, a.Header)
		}
	}
	servicetest.Send(t, s, "PUT", "/c11/n", "", "x-ms-blob-type", "BlockBlob", "x-ms-copy-source", from, "x-ms-source-content-md5", "AAAAAAAAAAAAAAAAAAAAAA==").Want(t, 400, "Md5Mismatch")
	servicetest.Send(t, s, "PUT", "/c11/n", "", "x-ms-blob-type", "BlockBlob", "x-ms-copy-source", from, "x-ms-blob-content-md5", "AAAAAAAAAAAAAAAAAAAAAA==").Want(t, 400, "Md5Mismatch")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "", "x-ms-copy-source", from, "x-ms-source-range", "bytes=2-4").Want(t, 201, "")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "", "x-ms-copy-source", from, "x-ms-source-range", "bytes=10-").Want(t, 416, "InvalidRange")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "", "x-ms-copy-source", from, "x-ms-source-range", "2-4").Want(t, 400, "InvalidHeaderValue")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "x", "x-ms-copy-source", from).Want(t, 400, "InvalidHeaderValue")
	assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/a", "").Body, "234")
}

func TestASignatureMayOverrideTheHeadersOfARead(t *testing.T) {
	s := filled(t)
	if a := servicetest.Send(t, s, "GET", "/c11/b?rsct=text/x&sig=s", ""); a.Header.Get("Content-Type") != "text/x" {
		t.Error(a.Header)
	}
	if a := servicetest.Send(t, s, "GET", "/c11/b?rsct=text/x", ""); a.Header.Get("Content-Type") != "application/octet-stream" {
		t.Error("without a signature nothing is overridden")
	}
}

func TestABlobWithoutContainerIsInTheRootContainer(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/$root?restype=container", "").Want(t, 201, "")
	servicetest.Send(t, s, "PUT", "/b", "root", "x-ms-blob-type", "BlockBlob").Want(t, 201, "")
	for _, path := range []string{"/b", "/$root/b"} {
		if a := servicetest.Send(t, s, "GET", path, ""); a.Body != "root" {
			t.Errorf("%s: %d %q", path, a.Status, a.Body)
		}
	}
	servicetest.Send(t, s, "PUT", "/c", "", "x-ms-copy-source", "https://account.example/b").Want(t, 202, "")
}
