package heat

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

type instant struct{ resp *http.Response }

func (i instant) Do(*http.Request) (*http.Response, error) { return i.resp, nil }

type endless struct{ *strings.Reader }

func (endless) Close() error { return nil }

// BenchmarkOverhead measures what a meter adds to a request.
func BenchmarkOverhead(b *testing.B) {
	const host = "https://account.table.core.windows.net"
	const filter = "?%24filter=PartitionKey%20eq%20%27Sales_000123%27%20and%20RowKey%20ge%20%2700001000%27"
	for _, s := range []struct{ name, method, url, body, reply string }{
		{"Get", http.MethodGet, host + "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", "", "{}"},
		{"Insert", http.MethodPost, host + "/Orders", `{"Age":3,"PartitionKey":"Sales_000123","RowKey":"00001234","Text":"` + strings.Repeat("x", 200) + `"}`, "{}"},
		{"Query", http.MethodGet, host + "/Orders()" + filter, "", `{"value":[{"PartitionKey":"Sales_000123"}]}`},
		{"Blob", http.MethodGet, "https://account.blob.core.windows.net/photos/2026/01.jpg", "", "{}"},
		{"Send", http.MethodPost, "https://account.queue.core.windows.net/jobs/messages", "", "{}"},
	} {
		b.Run(s.name, func(b *testing.B) {
			m := NewMeter(nil)
			req, err := http.NewRequest(s.method, s.url, nil)
			if err != nil {
				b.Fatal(err)
			}
			reply := strings.NewReader(s.reply)
			resp := &http.Response{StatusCode: http.StatusOK, Body: endless{reply}}
			var opts azcore.ClientOptions
			opts.Transport = instant{resp}
			m.Attach(&opts)
			body := endless{strings.NewReader(s.body)}
			buf := make([]byte, 1<<10)
			b.ReportAllocs()
			for b.Loop() {
				if s.body != "" {
					req.Body = body
				}
				resp.Body = endless{reply}
				reply.Reset(s.reply)
				got, err := opts.Transport.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = got.Body.Read(buf)
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				got.Body.Close()
			}
		})
	}
}
