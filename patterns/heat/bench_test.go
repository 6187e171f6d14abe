package heat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/azpatterns/azpatterns/internal/assert"
)

// nothing answers every request with the same bytes.
type nothing struct{ body []byte }

func (n nothing) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		_, _ = io.Copy(io.Discard, req.Body)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(n.body)), Request: req}, nil
}

type sample struct {
	name, method, path, body string
	reply                    string
}

func samples() []sample {
	entity := func(i int) string {
		b, _ := json.Marshal(map[string]any{"PartitionKey": "Sales_000123", "RowKey": fmt.Sprintf("%08d", i), "Name": strings.Repeat("x", 200), "Age": 42})
		return string(b)
	}
	var batch, page strings.Builder
	batch.WriteString("--batch\r\nContent-Type: multipart/mixed; boundary=changeset\r\n\r\n")
	page.WriteString(`{"odata.metadata":"x","value":[`)
	for i := range 100 {
		fmt.Fprintf(&batch, "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPUT https://account.table.core.windows.net/Orders(PartitionKey='Sales_000123',RowKey='%08d') HTTP/1.1\r\nAccept: application/json\r\n\r\n%s\r\n", i, entity(i))
		if i > 0 {
			page.WriteByte(',')
		}
		page.WriteString(entity(i))
	}
	page.WriteString("]}")
	const filter = "?%24filter=PartitionKey%20eq%20%27Sales_000123%27%20and%20RowKey%20ge%20%2700001000%27%20and%20RowKey%20lt%20%2700002000%27"
	return []sample{
		{"Get", http.MethodGet, "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", "", entity(1)},
		{"Insert", http.MethodPost, "/Orders", entity(1234), ""},
		{"Upsert", http.MethodPut, "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", entity(1234), ""},
		{"Query", http.MethodGet, "/Orders()" + filter, "", `{"value":[` + entity(1) + `]}`},
		{"Query100Rows", http.MethodGet, "/Orders()" + filter, "", page.String()},
		{"Batch100", http.MethodPost, "/$batch", batch.String(), ""},
	}
}

// BenchmarkRequest compares a client with and without a meter.
func BenchmarkRequest(b *testing.B) {
	for _, s := range samples() {
		for _, metered := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/metered=%v", s.name, metered), func(b *testing.B) {
				var opts azcore.ClientOptions
				opts.Transport = nothing{[]byte(s.reply)}
				opts.Retry = policy.RetryOptions{MaxRetries: -1, TryTimeout: 0}
				meter := newMeter(b, nil)
				if metered {
					meter.Attach(&opts)
				}
				pipeline := runtime.NewPipeline("bench", "v1", runtime.PipelineOptions{}, &opts)
				body := strings.NewReader(s.body)
				b.ReportAllocs()
				for b.Loop() {
					req := assert.Must(runtime.NewRequest(b.Context(), s.method, "https://account.table.core.windows.net"+s.path))(b)
					req.Raw().Header["Accept"] = []string{"application/json;odata=minimalmetadata"}
					if s.body != "" {
						body.Reset(s.body)
						_ = req.SetBody(closer{body}, "application/json")
					}
					assert.NoError(b, assert.ErrorOf(pipeline.Do(req)))
				}
			})
		}
	}
}

type closer struct{ *strings.Reader }

func (closer) Close() error { return nil }
