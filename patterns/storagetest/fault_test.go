package storagetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// service replies with status 200 and a count of requests, and stores the requests.
type service struct {
	mu   sync.Mutex
	sent []string
	urls []string
}

func (s *service) Do(req *http.Request) (*http.Response, error) {
	calls.TraceRequest(req)
	defer calls.TraceReply(req)
	body := ""
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		body = string(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, body)
	s.urls = append(s.urls, req.URL.String())
	reply := fmt.Sprintf("reply %d", len(s.sent))
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(reply)), ContentLength: int64(len(reply))}, nil
}

const base = "https://acct.table.core.windows.net"

func send(t *testing.T, tr *storagetest.Script, method, url, body string) (*http.Response, error) {
	t.Helper()
	return sendCtx(t, t.Context(), tr, method, url, body)
}

func sendCtx(t *testing.T, ctx context.Context, tr *storagetest.Script, method, url, body string) (*http.Response, error) {
	t.Helper()
	req := assert.Must(http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body))))(t)
	if strings.HasSuffix(url, "/$batch") {
		req.Header.Set("Content-Type", "multipart/mixed; boundary=batch_1")
	}
	return tr.Do(req)
}

// script adds rules, which must be valid.
func script(t *testing.T, tr *storagetest.Script, rules ...storagetest.Rule) {
	t.Helper()
	assert.NoError(t, tr.Fault(rules...))
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b := assert.Must(io.ReadAll(res.Body))(t)
	return string(b)
}

func TestALostReplyIsCarriedOutAndALostRequestIsNot(t *testing.T) {
	s := &service{}
	tr := storagetest.Wrap(s, nil)
	script(t, tr, storagetest.On("Table.Insert").Nth(2).LoseReply(), storagetest.On("Table.Insert").Nth(3).LoseRequest())
	for i := 1; i <= 4; i++ {
		res, err := send(t, tr, "POST", base+"/People", fmt.Sprint(i))
		lost := i == 2 || i == 3
		if lost != (err != nil) || lost == (res != nil) {
			t.Fatalf("request %d: %v %v", i, res, err)
		}
		if lost && (!errors.Is(err, syscall.ECONNRESET) || !errors.As(err, new(*storagetest.LostError)) || !strings.HasPrefix(err.Error(), "Table.Insert: ")) {
			t.Errorf("request %d: %v", i, err)
		}
	}
	assert.EqualSlices(t, s.sent, []string{"1", "2", "4"}, "carried out")
	var sent []bool
	for _, q := range tr.Log() {
		sent = append(sent, q.Sent)
	}
	if !slices.Equal(sent, []bool{true, true, false, true}) {
		t.Errorf("sent by the log: %v\n%v", sent, tr.Log())
	}
}

func TestNthAndTimesSelectRequests(t *testing.T) {
	tests := []struct {
		rule storagetest.Rule
		want string // x: refused
	}{
		{storagetest.On("Table.*"), "xxxxx"},
		{storagetest.On("*").Nth(2), ".x..."},
		{storagetest.On("Table.Get").Nth(2).Times(3), ".xxx."},
		{storagetest.On("Table.Get").Times(2), "xx..."},
		{storagetest.On("Table.Get").Nth(4).Times(storagetest.Forever), "...xx"},
		{storagetest.On("Table.Get").Times(storagetest.Forever).Nth(4), "...xx"},
		{storagetest.On("Table.Query"), "....."},
		{storagetest.On("Table.Get").Resource("PEOPLE"), "xxxxx"},
		{storagetest.On("Table.Get").Resource("others"), "....."},
		{storagetest.On("Table.Get").Where(func(q storagetest.Request) bool { return q.Rows[0].Row == "3" }), "..x.."},
		{storagetest.On("*").Probability(0), "....."},
		{storagetest.On("*").Probability(1), "xxxxx"},
	}
	for _, tt := range tests {
		tr := storagetest.Wrap(&service{}, nil)
		script(t, tr, tt.rule.Status(503, "ServerBusy"))
		got := ""
		for i := 1; i <= 5; i++ {
			res := assert.Must(send(t, tr, "GET", fmt.Sprintf("%s/People(PartitionKey='p',RowKey='%d')", base, i), ""))(t)
			got += map[bool]string{true: "x", false: "."}[res.StatusCode == 503]
		}
		assert.Equal(t, got, tt.want, tt.rule)
	}
}

func TestTheSameSeedCausesTheSameFaults(t *testing.T) {
	course := func(seed uint64) string {
		tr := storagetest.Wrap(&service{}, &storagetest.Options{Seed: seed})
		script(t, tr, storagetest.On("*").Probability(0.5).LoseRequest())
		out := ""
		for range 64 {
			_, err := send(t, tr, "GET", base+"/People()", "")
			out += map[bool]string{true: "x", false: "."}[err != nil]
		}
		if tr.Seed() != seed || !tr.Random() {
			t.Errorf("seed %d, random %v", tr.Seed(), tr.Random())
		}
		return out
	}
	a, b, c := course(7), course(7), course(8)
	if a != b || a == c || !strings.Contains(a, "x") || !strings.Contains(a, ".") {
		t.Errorf("%s\n%s\n%s", a, b, c)
	}
}

func TestAnErrorReplyHasTheFormatOfItsService(t *testing.T) {
	for host, want := range map[string]string{
		"acct.table.core.windows.net": `{"odata.error":{"code":"ServerBusy","message":{"lang":"en-US","value":"`,
		"acct.queue.core.windows.net": `<?xml version="1.0" encoding="utf-8"?><Error><Code>ServerBusy</Code><Message>`,
		"acct.blob.core.windows.net":  `<?xml version="1.0" encoding="utf-8"?><Error><Code>ServerBusy</Code><Message>`,
	} {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		script(t, tr, storagetest.On("*").Status(503, "ServerBusy"))
		res := assert.Must(send(t, tr, "GET", "https://"+host+"/thing", ""))(t)
		if body := text(t, res); res.StatusCode != 503 || res.Status != "503 Service Unavailable" || !strings.HasPrefix(body, want) {
			t.Errorf("%s: %s %s", host, res.Status, body)
		}
		if isTable := strings.Contains(host, "table"); isTable == (res.Header.Get("x-ms-error-code") == "ServerBusy") {
			t.Errorf("%s: x-ms-error-code %q", host, res.Header.Get("x-ms-error-code"))
		}
		if q := tr.Log()[0]; len(s.sent) != 0 || q.Status != 503 || q.Code != "ServerBusy" || q.Sent {
			t.Errorf("%v, sent %v", q, s.sent)
		}
	}
}

func TestDelaysEndWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		script(t, tr, storagetest.On("*").Delay(2*time.Second).DelayReply(3*time.Second), storagetest.On("*").Delay(time.Second))
		start := time.Now()
		assert.NoError(t, assert.ErrorOf(send(t, tr, "GET", base+"/People()", "")))
		assert.Equal(t, time.Since(start), 6*time.Second)
		for limit, carriedOut := range map[time.Duration]int{time.Second: 0, 4 * time.Second: 1} {
			s.sent = nil
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			start = time.Now()
			_, err := sendCtx(t, ctx, tr, "GET", base+"/People()", "")
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != limit || len(s.sent) != carriedOut {
				t.Errorf("limit %v: %v after %v, carried out %d", limit, err, time.Since(start), len(s.sent))
			}
			cancel()
		}
	})
}

func TestAnEndedContextIsNeitherSentNorCounted(t *testing.T) {
	s := &service{}
	tr := storagetest.Wrap(s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.WantError(t, assert.ErrorOf(sendCtx(t, ctx, tr, "GET", base+"/People()", "")), context.Canceled)
	assert.Equal(assert.Now(t), len(s.sent), 0)
	assert.Equal(t, len(tr.Log()), 0)
}

func TestARepeatedRequestIsCarriedOutTwiceWithItsBody(t *testing.T) {
	s := &service{}
	tr := storagetest.Wrap(s, nil)
	script(t, tr, storagetest.On("*").Twice())
	res := assert.Must(send(t, tr, "POST", base+"/People", "body"))(t)
	if got := text(t, res); got != "reply 2" || !slices.Equal(s.sent, []string{"body", "body"}) {
		t.Errorf("%s, sent %v", got, s.sent)
	}
}

func TestATruncatedReplyReturnsAnUnexpectedEOF(t *testing.T) {
	tr := storagetest.Wrap(&service{}, nil)
	script(t, tr, storagetest.On("*").CutReply(3))
	res := assert.Must(send(t, tr, "GET", base+"/People()", ""))(t)
	b, err := io.ReadAll(res.Body)
	assert.Equal(t, string(b), "rep")
	assert.WantError(t, err, io.ErrUnexpectedEOF)
}

func TestPagesAreShortenedWithParametersOfEveryService(t *testing.T) {
	s := &service{}
	tr := storagetest.Wrap(s, nil)
	script(t, tr, storagetest.On("Table.Query").EmptyPage(), storagetest.On("Table.*").ShortPage(5))
	res := assert.Must(send(t, tr, "GET", base+"/People()?$filter=x&NextPartitionKey=abc&NextRowKey=def", ""))(t)
	token := res.Header.Get("x-ms-continuation-NextPartitionKey")
	if body := text(t, res); body != `{"value":[]}` || token == "" || token == "abc" || len(s.urls) != 0 {
		t.Fatalf("%s, token %q, sent %v", body, token, s.urls)
	}
	if _, err := send(t, tr, "GET", base+"/People()?$filter=x&NextRowKey="+res.Header.Get("x-ms-continuation-NextRowKey")+"&NextPartitionKey="+token, ""); err != nil {
		t.Fatal(err)
	}
	want := base + "/People()?%24filter=x&%24top=5&NextPartitionKey=abc&NextRowKey=def"
	assert.EqualSlices(t, s.urls, []string{want}, "want", want)
	assert.NoError(t, assert.ErrorOf(send(t, tr, "GET", base+"/People()?$top=3", "")))
	assert.Equal(t, len(s.urls), 1)
}

func TestMessagesAreDeliveredLateAndTwice(t *testing.T) {
	s := &service{}
	tr := storagetest.Wrap(s, nil)
	script(t, tr, storagetest.On("Queue.Get").Nth(1).NoMessages(), storagetest.On("Queue.Get").Nth(2).Redeliver())
	var got []string
	for range 4 {
		res := assert.Must(send(t, tr, "GET", "https://acct.queue.core.windows.net/jobs/messages?numofmessages=1", ""))(t)
		got = append(got, text(t, res))
	}
	if !strings.HasSuffix(got[0], "<QueueMessagesList />") || !slices.Equal(got[1:], []string{"reply 1", "reply 1", "reply 2"}) {
		t.Errorf("%q", got)
	}
}

func TestEveryAttemptIsTracedOnce(t *testing.T) {
	for _, c := range []struct {
		rule    storagetest.Rule
		replies int
	}{
		{storagetest.On("*").Delay(0), 1},
		{storagetest.On("*").LoseReply(), 1}, // the service has sent it
		{storagetest.On("*").LoseRequest(), 0},
		{storagetest.On("*").Status(500, "InternalError"), 1},
		{storagetest.On("*").EmptyPage(), 1},
	} {
		tr := storagetest.Wrap(&service{}, nil)
		script(t, tr, c.rule)
		var conns, writes, replies int
		var host string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn:      func(h string) { conns++; host = h },
			WroteRequest: func(httptrace.WroteRequestInfo) { writes++ },

			GotFirstResponseByte: func() { replies++ },
		})
		_, _ = sendCtx(t, ctx, tr, "GET", base+"/People()", "") // some return an error
		if conns != 1 || writes != 1 || host != "acct.table.core.windows.net:443" {
			t.Errorf("%v: %d connections to %s, %d writes", c.rule, conns, host, writes)
		}
		assert.Equal(t, replies, c.replies, c.rule, "replies")
	}
}

func TestTheLogKeepsTheNewestAndCounts(t *testing.T) {
	tr := storagetest.Wrap(&service{}, &storagetest.Options{LogLimit: 10})
	for i := range 25 {
		assert.NoError(t, assert.ErrorOf(send(t, tr, "GET", fmt.Sprintf("%s/People(PartitionKey='p',RowKey='%d')", base, i), "ab")))
	}
	l := tr.Log()
	if n := len(l); n < 5 || n > 10 || l[n-1].Seq != 25 || l[n-1].Rows[0].Row != "24" || l[n-1].RequestBytes != 2 || l[n-1].ReplyBytes != 8 {
		t.Errorf("%d entries:\n%v", len(l), l)
	}
	assert.Equal(t, l.Count("Table.Get"), len(l))
	assert.Equal(t, l.Count("Queue.*"), 0)
	tr.ResetLog()
	assert.Equal(t, len(tr.Log()), 0, "not empty")
	script(t, tr, storagetest.On("*").LoseRequest())
	tr.Clear()
	assert.Equal(t, assert.ErrorOf(send(t, tr, "GET", base+"/People()", "")), nil, "after Clear")
	assert.Equal(t, tr.Log()[0].Seq, 26, "the numbers start again")
}

func TestAKilledSenderReceivesOnlyErrors(t *testing.T) {
	for after, how := range map[bool]storagetest.Death{false: storagetest.DeathBefore, true: storagetest.DeathAfter} {
		s := &service{}
		tr := storagetest.Wrap(s, nil)
		deaths := 0
		tr.Kill(2, how, func() { deaths++ })
		for i := 1; i <= 4; i++ {
			_, err := send(t, tr, "POST", base+"/People", fmt.Sprint(i))
			assert.Equal(t, errors.Is(err, storagetest.ErrKilled), i >= 2, "after", after, "request", i, err)
		}
		want := []string{"1"}
		if after {
			want = append(want, "2")
		}
		assert.EqualSlices(t, s.sent, want)
		assert.Equal(t, deaths, 1)
	}
}
