//go:build unix

package govern_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/govern"
)

type endless struct{ *strings.Reader }

func (endless) Close() error { return nil }

// sampleRequest is a request and its reply, which can be sent again and again.
type sampleRequest struct {
	name        string
	req         *http.Request
	resp        *http.Response
	body, reply *strings.Reader
}

func (s *sampleRequest) Do(*http.Request) (*http.Response, error) { return s.resp, nil }

// send sends it through transport and reads the reply.
func (s *sampleRequest) send(tb testing.TB, transport policy.Transporter, buf []byte) {
	if s.body.Size() > 0 {
		s.req.Body = endless{s.body}
	}
	s.resp.Body = endless{s.reply}
	_, _ = s.reply.Seek(0, io.SeekStart)
	resp, err := transport.Do(s.req)
	assert.NoError(tb, err)
	for err == nil {
		_, err = resp.Body.Read(buf)
	}
	resp.Body.Close()
}

func sampleRequests() []*sampleRequest {
	const host = "https://account.table.core.windows.net"
	const filter = "?%24filter=PartitionKey%20eq%20%27Sales_000123%27%20and%20RowKey%20ge%20%2700001000%27"
	entity := `{"Age":3,"PartitionKey":"Sales_000123","RowKey":"00001234","Text":"` + strings.Repeat("x", 200) + `"}`
	var transaction strings.Builder
	for i := range 100 {
		fmt.Fprintf(&transaction, "--changeset\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nPUT %s/Orders(PartitionKey='Sales_000123',RowKey='%08d') HTTP/1.1\r\nAccept: application/json\r\n\r\n%s\r\n", host, i, entity)
	}
	var list []*sampleRequest
	for _, s := range []struct{ name, method, url, body, reply string }{
		{"Get", http.MethodGet, host + "/Orders(PartitionKey='Sales_000123',RowKey='00001234')", "", "{}"},
		{"Insert", http.MethodPost, host + "/Orders", entity, "{}"},
		{"Transaction100", http.MethodPost, host + "/$batch", transaction.String(), "{}"},
		{"Query", http.MethodGet, host + "/Orders()" + filter, "", `{"value":[{"PartitionKey":"Sales_000123"}]}`},
		{"Blob", http.MethodGet, "https://account.blob.core.windows.net/photos/2026/01.jpg", "", "{}"},
		{"Send", http.MethodPost, "https://account.queue.core.windows.net/jobs/messages", "", "{}"},
	} {
		req, err := http.NewRequest(s.method, s.url, nil)
		if err != nil {
			panic(err)
		}
		list = append(list, &sampleRequest{
			name: s.name, req: req, resp: &http.Response{StatusCode: http.StatusOK, Header: http.Header{}},
			body: strings.NewReader(s.body), reply: strings.NewReader(s.reply),
		})
	}
	return list
}

// governedSample returns a transport for s whose limits are beyond what it can reach.
func governedSample(tb testing.TB, s *sampleRequest) policy.Transporter {
	g := assert.Must(govern.New(&govern.Options{Targets: &govern.Targets{Partition: 1 << 30, Account: 1 << 30}}))(tb)
	opts := azcore.ClientOptions{Transport: s}
	g.Attach(&opts)
	return opts.Transport
}

// BenchmarkOverhead measures what a governor adds to a request that no limit delays: the
// difference of each pair. The processor time is also right on a busy machine.
func BenchmarkOverhead(b *testing.B) {
	for _, s := range sampleRequests() {
		for _, limited := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/governed=%v", s.name, limited), func(b *testing.B) {
				var transport policy.Transporter = s
				if limited {
					transport = governedSample(b, s)
				}
				buf := make([]byte, 1<<10)
				b.ReportAllocs()
				b.ResetTimer()
				before := processorTime()
				for b.Loop() {
					s.send(b, transport, buf)
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
