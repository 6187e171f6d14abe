package tablectl

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// generator is a Table service whose tables have generated rows, and that forgets what is written.
type generator struct {
	rows     int
	requests atomic.Int64
	peak     atomic.Uint64 // bytes of the heap that are in use
}

// row appends row i as the service returns it.
func (g *generator) row(dst []byte, i int) []byte {
	return fmt.Appendf(dst, `{"odata.etag":"W/\"1\"","PartitionKey":"%05d","RowKey":"%09d","Timestamp@odata.type":"Edm.DateTime","Timestamp":"2020-01-01T00:00:00Z",`+
		`"Name":"Person %d","Email":"person%d@example.com","Number":%d,"Big@odata.type":"Edm.Int64","Big":"%d","Half":%d.5,"Text":"%0100d"}`, i/1000, i, i, i, i, i, i, i)
}

func (g *generator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.requests.Add(1)%25 == 0 {
		g.measure()
	}
	body, err := io.ReadAll(r.Body)
	switch {
	case err != nil:
		panic(err)
	case r.Method == http.MethodGet:
		g.page(w, r)
	case strings.HasSuffix(r.URL.Path, "/Tables"):
		w.WriteHeader(http.StatusNoContent)
	default:
		acknowledge(w, bytes.Count(body, []byte("Content-Type: application/http")))
	}
}

func (g *generator) page(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.FormValue("NextRowKey"))
	end := min(from+1000, g.rows)
	if end < g.rows {
		w.Header().Set("x-ms-continuation-NextPartitionKey", fmt.Sprintf("%05d", end/1000))
		w.Header().Set("x-ms-continuation-NextRowKey", fmt.Sprintf("%09d", end))
	}
	w.Header().Set("Content-Type", "application/json;odata=minimalmetadata;streaming=true;charset=utf-8")
	text := []byte(`{"odata.metadata":"http://127.0.0.1/$metadata#Rows","value":[`)
	for i := from; i < end; i++ {
		if i > from {
			text = append(text, ',')
		}
		text = g.row(text, i)
	}
	w.Write(append(text, "]}"...))
}

// acknowledge answers a transaction of n operations.
func acknowledge(w http.ResponseWriter, n int) {
	const part = "--changes\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
		"HTTP/1.1 204 No Content\r\nDataServiceVersion: 1.0;\r\nETag: W/\"1\"\r\n\r\n\r\n"
	w.Header().Set("Content-Type", "multipart/mixed; boundary=batch")
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, "--batch\r\nContent-Type: multipart/mixed; boundary=changes\r\n\r\n"+strings.Repeat(part, n)+"--changes--\r\n--batch--\r\n")
}

func (g *generator) measure() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for {
		peak := g.peak.Load()
		if m.HeapAlloc <= peak || g.peak.CompareAndSwap(peak, m.HeapAlloc) {
			return
		}
	}
}

// measured is a command whose memory is measured, as arguments without the account. FILE is the name of a file.
var measured = map[string]string{
	"export":  "export -parallel 1 Rows FILE",
	"import":  "import FILE Target",
	"dump":    "dump -parallel 1 FILE Rows",
	"restore": "restore -state FILE.state FILE",
	"copy":    "copy -parallel 1 Rows Target",
	"count":   "count -parallel 1 Rows",
	"diff":    "diff -quiet Rows Same",
	"sort":    "diff -quiet Rows FILE",
}

// peakOf returns the largest heap of a command that moves n rows.
func peakOf(t testing.TB, name string, n int) uint64 {
	g := &generator{rows: n}
	server := httptest.NewServer(g)
	defer server.Close()
	t.Setenv("TABLECTL_TEST", fmt.Sprintf("AccountName=a;AccountKey=%s;TableEndpoint=%s", storagetest.AccountKey, server.URL))
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if name == "import" || name == "sort" {
		f := assert.Must(os.Create(path))(t)
		for i := range n {
			assert.NoError(t, assert.ErrorOf(f.Write(append(g.row(nil, i), '\n'))))
		}
		assert.NoError(t, f.Close())
	}
	run := func(name string) output {
		return must(t, exitDone, nil, append(strings.Fields(strings.ReplaceAll(measured[name], "FILE", path)), "-env", "TABLECTL_TEST")...)
	}
	if name == "restore" {
		run("dump")
		g.peak.Store(0)
	}
	o := run(name)
	assert.Contains(assert.Now(t), o.out, fmt.Sprint(n), name, "printed")
	g.measure()
	return g.peak.Load()
}

func TestMemoryDoesNotGrowWithTheTable(t *testing.T) {
	names := []string{"import", "dump", "restore", "export", "copy", "diff"}
	if testing.Short() {
		names = names[:2] // one that writes, one that reads
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			few, many := peakOf(t, name, 10_000), peakOf(t, name, 100_000)
			const tolerance = 24 << 20 // one more chunk, or part of a file, that is in use while the next is read
			if many > few+tolerance {
				t.Errorf("100,000 rows take %d MiB, 10,000 rows %d MiB", many>>20, few>>20)
			}
		})
	}
}

// BenchmarkMemory measures the largest heap of each command.
func BenchmarkMemory(b *testing.B) {
	for name := range measured {
		for _, n := range []int{10_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					b.ReportMetric(float64(peakOf(b, name, n))/(1<<20), "MiB")
				}
			})
		}
	}
}

// BenchmarkHundredThousandRows measures what export, import and diff of 100,000 rows take on storagetest.
func BenchmarkHundredThousandRows(b *testing.B) {
	acct := storagetest.Start(nil)
	rows := sampleRows(100_000)
	for i := range rows {
		rows[i].Key = keys.Key{Partition: fmt.Sprintf("%03d", i%100), Row: fmt.Sprintf("%06d", i)}
	}
	newTable(b, acct, "Source", rows)
	path := filepath.Join(b.TempDir(), "rows.jsonl")
	for _, c := range []string{"export -force Source " + path, "import -create -force " + path + " Target", "diff Source Target", "diff Target " + path} {
		name, _, _ := strings.Cut(c, " ")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(b, exitDone, acct, append(strings.Fields(c), "-demo")...)
			}
		})
	}
}
