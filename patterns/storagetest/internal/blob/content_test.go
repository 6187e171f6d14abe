package blob_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	req "github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/servicetest"
)

func TestAnAppendBlobHasAtMost50000Blocks(t *testing.T) {
	s := filled(t)
	for i := range 50_000 {
		if a := servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "x"); a.Status != 201 {
			t.Fatalf("block %d: %d %s", i, a.Status, a.Code)
		}
	}
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "x").Want(t, 409, "BlockCountExceedsLimit")
	assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/a", "", "Range", "bytes=49990-").Body, "xxxxxxxxxx", "the end is")
}

func TestCommitCopyAndAppendDoNotChangeABlock(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "one")
	servicetest.Send(t, s, "PUT", "/c11/copy", "", "x-ms-copy-source", "https://account.example/c11/a").Want(t, 202, "")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "two")
	servicetest.Send(t, s, "PUT", "/c11/copy?comp=appendblock", "three")
	servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", "four")
	assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/a", "").Body, "onetwofour")
	assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/copy", "").Body, "onethree")
}

func TestAnUploadReturnsAndStoresItsChecksums(t *testing.T) {
	s := filled(t)
	// The CRC-64/NVME of 123456789 is AE8B14860A799888, low byte first in the header.
	crc := base64.StdEncoding.EncodeToString([]byte{0x88, 0x98, 0x79, 0x0A, 0x86, 0x14, 0x8B, 0xAE})
	a := servicetest.Send(t, s, "PUT", "/c11/n", "123456789", "x-ms-blob-type", "BlockBlob", "x-ms-content-crc64", crc)
	a.Want(t, 201, "")
	assert.Equal(t, a.Header.Get("X-Ms-Content-Crc64"), crc, "CRC")
	const sum = "JfnnlDI7RTiF9RgfG2JNCw==" // MD5 of 123456789
	assert.Equal(t, servicetest.Send(t, s, "HEAD", "/c11/n", "").Header.Get("Content-Md5"), sum, "MD5")
	a = servicetest.Send(t, s, "GET", "/c11/n", "", "Range", "bytes=0-8", "x-ms-range-get-content-crc64", "true")
	if a.Header.Get("X-Ms-Content-Crc64") != crc || a.Header.Get("X-Ms-Blob-Content-Md5") != sum || a.Header.Get("Content-Md5") != "" {
		t.Errorf("%v", a.Header)
	}
	a = servicetest.Send(t, s, "PUT", "/c11/n", "x", "x-ms-blob-type", "BlockBlob", "Content-MD5", sum)
	assert.Equal(t, a.Want(t, 400, "Md5Mismatch").Header.Get("Content-Md5"), "", "the refusal carries a sum of the content")
}

func TestAPutDiscardsUncommittedBlocks(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/c11/b?comp=block&blockid=BBBB", "staged").Want(t, 201, "")
	servicetest.Send(t, s, "PUT", "/c11/b", "whole", "x-ms-blob-type", "BlockBlob").Want(t, 201, "")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=blocklist", blockList("Latest", "BBBB")).Want(t, 400, "InvalidBlockList")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=blocklist", blockList("Latest", "AAAA")).Want(t, 400, "InvalidBlockList")
}

func TestABlockListSelectsTheCommittedOrUncommittedBlock(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/c11/b?comp=block&blockid=AAAA", "new").Want(t, 201, "")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=blocklist", blockList("Committed", "AAAA", "Uncommitted", "AAAA", "Latest", "AAAA")).Want(t, 201, "")
	assert.Equal(t, servicetest.Send(t, s, "GET", "/c11/b", "").Body, "0123456789newnew")
}

func TestACopyOntoALeasedBlobNeedsAnInfiniteLease(t *testing.T) {
	s := filled(t)
	for duration, want := range map[string]int{"60": 412, "-1": 202} {
		servicetest.Send(t, s, "PUT", "/c11/b?comp=lease", "", "x-ms-lease-action", "acquire", "x-ms-lease-duration", duration, "x-ms-proposed-lease-id", guid).Want(t, 201, "")
		a := servicetest.Send(t, s, "PUT", "/c11/b", "", "x-ms-copy-source", "https://account.example/c11/b", "x-ms-lease-id", guid)
		if a.Status != want || want == 412 && a.Code != "InfiniteLeaseDurationRequired" {
			t.Errorf("lease of %s: %d %s", duration, a.Status, a.Code)
		}
	}
}

func TestAnOverwrittenBlobKeepsItsTierLeaseAndCreationTime(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/c11/b?comp=tier", "", "x-ms-access-tier", "Cool").Want(t, 200, "")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=lease", "", "x-ms-lease-action", "acquire", "x-ms-lease-duration", "-1", "x-ms-proposed-lease-id", guid).Want(t, 201, "")
	before := servicetest.Send(t, s, "HEAD", "/c11/b", "").Header
	servicetest.Send(t, s, "PUT", "/c11/b", "x", "x-ms-blob-type", "BlockBlob", "x-ms-lease-id", guid).Want(t, 201, "")
	after := servicetest.Send(t, s, "HEAD", "/c11/b", "").Header
	for _, name := range []string{"X-Ms-Access-Tier", "X-Ms-Lease-State", "X-Ms-Lease-Duration", "X-Ms-Creation-Time"} {
		if before.Get(name) != after.Get(name) || after.Get(name) == "" {
			t.Errorf("%s: %q, was %q", name, after.Get(name), before.Get(name))
		}
	}
	if before.Get("Etag") == after.Get("Etag") || after.Get("X-Ms-Access-Tier") != "Cool" {
		t.Error(after)
	}
}

func TestSettingHeadersClearsOmittedOnes(t *testing.T) {
	s := filled(t)
	servicetest.Send(t, s, "PUT", "/c11/b?comp=properties", "", "x-ms-blob-content-type", "text/plain", "x-ms-blob-content-language", "en").Want(t, 200, "")
	a := servicetest.Send(t, s, "HEAD", "/c11/b", "")
	assert.Equal(t, a.Header.Get("Content-Type"), "text/plain")
	assert.Equal(t, a.Header.Get("Content-Language"), "en")
	servicetest.Send(t, s, "PUT", "/c11/b?comp=properties", "", "x-ms-blob-cache-control", "no-cache").Want(t, 200, "")
	a = servicetest.Send(t, s, "HEAD", "/c11/b", "")
	if a.Header.Get("Content-Type") != "" || a.Header.Get("Content-Language") != "" || a.Header.Get("Cache-Control") != "no-cache" {
		t.Error(a.Header)
	}
}

// A name that XML cannot contain is listed percent-encoded, and the SDK decodes it.
func TestNamesThatXMLDoesNotAllowAreListedEncoded(t *testing.T) {
	c := newContainer(t)
	name := "a \uFFFF+%41/b"
	assert.NoError(t, assert.ErrorOf(c.NewBlockBlobClient(name).Upload(t.Context(), body("x"), nil)))
	p, err := c.NewListBlobsFlatPager(nil).NextPage(t.Context())
	if err != nil || len(p.Segment.BlobItems) != 1 || *p.Segment.BlobItems[0].Name != name {
		t.Errorf("%+v, %v", p.Segment, err)
	}
}

func TestATransportCanRequestShortAndEmptyPages(t *testing.T) {
	s := filled(t)
	list := func(marker string, page req.Page) servicetest.Reply {
		r := request(t, "GET", "/c11?restype=container&comp=list&marker="+marker)
		parsed, r := new(req.Parser).Parse(r.WithContext(req.WithService(t.Context(), op.Blob)))
		parsed.Page = page
		return servicetest.Do(t, s, req.Bind(r, parsed))
	}
	a := list("", req.Page{Rows: 1})
	assert.Equal(t, strings.Count(a.Body, "<Blob>"), 1, a.Body)
	_, tail, _ := strings.Cut(a.Body, "<NextMarker>")
	marker, _, _ := strings.Cut(tail, "<")
	if a = list(marker, req.Page{Rows: 1}); !strings.Contains(a.Body, "<Name>b</Name>") || !strings.Contains(a.Body, "<NextMarker></NextMarker>") {
		t.Error(a.Body)
	}
	servicetest.Send(t, s, "PUT", "/c11/0?comp=block&blockid=AAAA", "x").Want(t, 201, "")
	if a = list("", req.Page{Scan: 1}); strings.Contains(a.Body, "<Blob>") || strings.Contains(a.Body, "<NextMarker></NextMarker>") {
		t.Errorf("want an empty page with a marker: %s", a.Body)
	}
}

func TestConcurrentAppendsAreNeitherLostNorTorn(t *testing.T) {
	s := filled(t)
	const workers, each = 8, 100
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", fmt.Sprintf("%d:%03d\n", w, i)).Want(t, 201, "")
				servicetest.Send(t, s, "GET", "/c11/a", "").Want(t, 200, "")
				servicetest.Send(t, s, "GET", "/c11?restype=container&comp=list", "").Want(t, 200, "")
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSpace(servicetest.Send(t, s, "GET", "/c11/a", "").Body), "\n")
	next := map[string]int{}
	for _, line := range lines {
		w, n, _ := strings.Cut(line, ":")
		if n != fmt.Sprintf("%03d", next[w]) {
			t.Fatalf("writer %s: %s, want %03d", w, n, next[w])
		}
		next[w]++
	}
	assert.Equal(t, len(lines), workers*each, "lines")
}

// TestContentFollowsAModel runs random writes and reads against a plain []byte.
func TestContentFollowsAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := filled(t)
		var blob, log []byte
		blob = []byte("0123456789")
		committed := map[string]string{"AAAA": "0123456789"}
		staged := map[string]string{}
		data := rapid.StringMatching(`[a-z]{1,20}`)
		id := rapid.SampledFrom([]string{"AAAA", "BBBB", "CCCC", "DDDD"})
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				d := data.Draw(rt, "data")
				a := servicetest.Send(t, s, "PUT", "/c11/a?comp=appendblock", d, "x-ms-blob-condition-appendpos", fmt.Sprint(len(log)))
				assert.Equal(assert.Now(rt), a.Status, 201)
				assert.Equal(assert.Now(rt), a.Header.Get("X-Ms-Blob-Append-Offset"), fmt.Sprint(len(log)))
				log = append(log, d...)
			},
			"stage": func(rt *rapid.T) {
				k, d := id.Draw(rt, "id"), data.Draw(rt, "data")
				servicetest.Send(t, s, "PUT", "/c11/b?comp=block&blockid="+k, d).Want(t, 201, "")
				staged[k] = d
			},
			"commit": func(rt *rapid.T) {
				var pairs []string
				var want []byte
				now := map[string]string{}
				ok := true
				for range rapid.IntRange(0, 4).Draw(rt, "blocks") {
					kind, k := rapid.SampledFrom([]string{"Committed", "Uncommitted", "Latest"}).Draw(rt, "kind"), id.Draw(rt, "id")
					pairs = append(pairs, kind, k)
					d, in := staged[k]
					if kind == "Committed" || kind == "Latest" && !in {
						d, in = committed[k]
					}
					ok = ok && in
					want = append(want, d...)
					now[k] = d
				}
				a := servicetest.Send(t, s, "PUT", "/c11/b?comp=blocklist", blockList(pairs...))
				if !ok {
					a.Want(t, 400, "InvalidBlockList")
					return
				}
				a.Want(t, 201, "")
				blob, committed, staged = want, now, map[string]string{}
			},
			"put": func(rt *rapid.T) {
				d := data.Draw(rt, "data")
				servicetest.Send(t, s, "PUT", "/c11/b", d, "x-ms-blob-type", "BlockBlob").Want(t, 201, "")
				blob, committed, staged = []byte(d), map[string]string{}, map[string]string{}
			},
			"list": func(rt *rapid.T) {
				a := servicetest.Send(t, s, "GET", "/c11/b?comp=blocklist&blocklisttype=uncommitted", "")
				got := strings.Count(a.Body, "<Block>")
				if got != len(staged) {
					rt.Fatalf("%d uncommitted blocks, want %v", got, slices.Collect(maps.Keys(staged)))
				}
			},
			"": func(rt *rapid.T) {
				for path, want := range map[string][]byte{"/c11/b": blob, "/c11/a": log} {
					if a := servicetest.Send(t, s, "GET", path, ""); !bytes.Equal([]byte(a.Body), want) {
						rt.Fatalf("%s: %q, want %q", path, a.Body, want)
					}
					if len(want) == 0 {
						continue
					}
					from := rapid.IntRange(0, len(want)-1).Draw(rt, "from")
					to := rapid.IntRange(from, len(want)+3).Draw(rt, "to")
					a := servicetest.Send(t, s, "GET", path, "", "Range", fmt.Sprintf("bytes=%d-%d", from, to))
					assert.Equal(assert.Now(rt), a.Status, 206)
					assert.Equal(assert.Now(rt), a.Body, string(want[from:min(to+1, len(want))]))
				}
			},
		})
	})
}
