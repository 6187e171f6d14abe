package heat

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/target"
	"github.com/azpatterns/azpatterns/keys"
)

type instant struct{ resp *http.Response }

func (i instant) Do(*http.Request) (*http.Response, error) { return i.resp, nil }

// BenchmarkOverhead measures the time that a meter adds to a request. Short rounds with and
// without it alternate: the least is the difference of the fastest round of each, which a busy
// machine does not change; the median is that of the differences.
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
		b.Run(s.name, func(b *testing.B) {
			req := assert.Must(http.NewRequest(s.method, s.url, nil))(b)
			reply, body, buf := strings.NewReader(s.reply), endless{strings.NewReader(s.body)}, make([]byte, 1<<10)
			resp := &http.Response{StatusCode: http.StatusOK}
			send := func(t policy.Transporter) {
				if s.body != "" {
					req.Body = body
				}
				resp.Body = endless{reply}
				reply.Reset(s.reply)
				got, err := t.Do(req)
				for err == nil {
					_, err = got.Body.Read(buf)
				}
				assert.Equal(assert.Now(b), err, io.EOF)
				got.Body.Close()
			}
			plain := azcore.ClientOptions{Transport: instant{resp}}
			metered := plain
			m := newMeter(nil)
			for i := range 200_000 { // the meter divides its ranges every 16,384 records
				key := keys.Key{Partition: fmt.Sprintf("Sales_%06d", i*7919%1000), Row: fmt.Sprintf("%08d", i)}
				m.simulate(touch("Orders", target.Batch, key), time.Now(), 1)
			}
			m.Attach(&metered)
			const round = 100
			var added []float64
			fastest := [2]time.Duration{time.Hour, time.Hour}
			b.ReportAllocs()
			for b.Loop() {
				var took [2]time.Duration
				for i, t := range []policy.Transporter{plain.Transport, metered.Transport} {
					began := time.Now()
					for range round {
						send(t)
					}
					took[i] = time.Since(began)
					fastest[i] = min(fastest[i], took[i])
				}
				added = append(added, float64(took[1]-took[0])/round)
			}
			slices.Sort(added)
			b.ReportMetric(float64(fastest[1]-fastest[0])/round, "least-ns/request")
			b.ReportMetric(added[len(added)/2], "median-ns/request")
			b.ReportMetric(0, "ns/op")
		})
	}
}
