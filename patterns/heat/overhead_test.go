//go:build unix

package heat

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
)

type instant struct{ resp *http.Response }

func (i instant) Do(*http.Request) (*http.Response, error) { return i.resp, nil }

// BenchmarkOverhead measures what a meter adds to a request: the difference of each pair. The
// processor time is also right on a busy machine.
func BenchmarkOverhead(b *testing.B) {
	const host = "https://account.table.core.windows.net"
	const filter = "?%24filter=PartitionKey%20eq%20%27Sales_000123%27%20and%20RowKey%20ge%20%2700001000%27"
	var transaction strings.Builder
	for i := range 100 {
		fmt.Fprintf(&transaction, "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPUT %s/Orders(PartitionKey='Sales_000123',RowKey='%08d') HTTP/1.1\r\nAccept: application/json\r\n\r\n{\"Text\":\"%s\"}\r\n", host, i, strings.Repeat("x", 200))
	}
	for _, s := range []struct{ name, method, url, body, reply string }{
		{"Get", http.MethodGet, host + "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", "", "{}"},
		{"Insert", http.MethodPost, host + "/Orders", `{"Age":3,"PartitionKey":"Sales_000123","RowKey":"00001234","Text":"` + strings.Repeat("x", 200) + `"}`, "{}"},
		{"Transaction100", http.MethodPost, host + "/$batch", transaction.String(), "{}"},
		{"Query", http.MethodGet, host + "/Orders()" + filter, "", `{"value":[{"PartitionKey":"Sales_000123"}]}`},
		{"Blob", http.MethodGet, "https://account.blob.core.windows.net/photos/2026/01.jpg", "", "{}"},
		{"Send", http.MethodPost, "https://account.queue.core.windows.net/jobs/messages", "", "{}"},
	} {
		for _, metered := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/metered=%v", s.name, metered), func(b *testing.B) {
				req, err := http.NewRequest(s.method, s.url, nil)
				if err != nil {
					b.Fatal(err)
				}
				reply := strings.NewReader(s.reply)
				resp := &http.Response{StatusCode: http.StatusOK, Body: endless{reply}}
				var opts azcore.ClientOptions
				opts.Transport = instant{resp}
				if metered {
					NewMeter(nil).Attach(&opts)
				}
				body := endless{strings.NewReader(s.body)}
				buf := make([]byte, 1<<10)
				b.ReportAllocs()
				before := processorTime()
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
				b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

func processorTime() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}
