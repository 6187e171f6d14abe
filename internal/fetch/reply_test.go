package fetch_test

import (
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// counter is a row whose content does not show which client wrote it.
type counter struct {
	Name  string `table:"PartitionKey"`
	Shard string `table:"RowKey"`
	N     int64
}

var tally = keys.Key{Partition: "hits", Row: "0"}

func (c counter) Key() keys.Key { return keys.Key{Partition: c.Name, Row: c.Shard} }

// readsOf returns all ways to read a row with a query.
func readsOf(t *testing.T, table *patterns.Table[counter]) map[string]func() error {
	t.Helper()
	reader := assert.Must(patterns.Project[struct{ N int64 }](table))(t)
	inPartition := query.PartitionKey.Eq("hits")
	return map[string]func() error{
		"query": func() (last error) {
			for _, err := range table.Query(t.Context(), inPartition, nil) {
				last = err
			}
			return last
		},
		"pages": func() error {
			for cursor := ""; ; {
				page, err := table.Page(t.Context(), inPartition, cursor, nil)
				if cursor = page.Cursor; err != nil || cursor == "" {
					return err
				}
			}
		},
		"page of points": func() error {
			_, err := reader.Page(t.Context(), query.And(inPartition, query.RowKey.In("0", "1")), "", nil)
			return err
		},
		"scan": func() (last error) {
			for _, err := range table.Scan(t.Context(), inPartition, "", nil) {
				last = err
			}
			return last
		},
		"get of a part":                        func() error { _, err := reader.Get(t.Context(), tally); return err },
		"get in the empty partition":           func() error { _, err := table.Get(t.Context(), keys.Key{Row: "0"}); return err },
		"get of a part in the empty partition": func() error { _, err := reader.Get(t.Context(), keys.Key{Row: "0"}); return err },
	}
}

func TestARepeatedContinuationTokenEndsTheRead(t *testing.T) {
	const token = "1!4!aGl0cw--"
	for what, rows := range map[string]string{"without rows": "", "with a row": `{"odata.etag":"\"1\"","PartitionKey":"hits","RowKey":"0"}`} {
		t.Run(what, func(t *testing.T) {
			var mu sync.Mutex
			continued := map[string]int{} // by query, the requests with the token
			wrap := func(inner policy.Transporter) harness.Transport {
				return func(req *http.Request) (*http.Response, error) {
					if q := req.URL.Query(); q.Has("NextPartitionKey") {
						mu.Lock()
						continued[req.URL.RawQuery]++
						mu.Unlock()
					}
					resp, err := inner.Do(req)
					if err != nil {
						return nil, err
					}
					resp.StatusCode = http.StatusOK // the account does not know the token
					resp.Header.Set("x-ms-continuation-NextPartitionKey", token)
					return harness.ReplaceBody(resp, func([]byte) []byte { return []byte(`{"value":[` + rows + `]}`) }), nil
				}
			}
			harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, acct *storagetest.Account) {
				for name, read := range readsOf(t, harness.NewTable[counter](t, client, nil)) {
					if rows != "" && strings.HasPrefix(name, "get") || rows != "" && name == "page of points" {
						continue // the row ends these reads
					}
					acct.ResetLog()
					clear(continued)
					assert.WantError(t, read(), patterns.ErrBadReply)
					for _, n := range continued {
						if n > 1 {
							t.Errorf("%s: the same page was requested %d times", name, n)
						}
					}
					// A page may read both points concurrently. A scan may have cut what it reads before the second reply arrives.
					most := map[string]int{"page of points": 4, "scan": math.MaxInt}
					if n := acct.Log().Count("Table.Query"); n < 2 || n > max(most[name], 2) || len(continued) == 0 {
						t.Errorf("%s: %d requests, %d with the token", name, n, len(continued))
					}
				}
			})
		})
	}
}

// endless is a body without end that counts the bytes read.
type endless struct{ read int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read += int64(len(b))
	return len(b), nil
}

func TestAnEndlessReplyIsReadUpToALimit(t *testing.T) {
	var body *endless
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil {
				return nil, err
			}
			resp.Body, resp.ContentLength = io.NopCloser(body), -1
			resp.Header.Del("Content-Length")
			return resp, nil
		}
	}
	for _, accelerated := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "accelerated"}[accelerated], func(t *testing.T) {
			acct, name := harness.NewAccount(t)
			opts := azcore.ClientOptions{Transport: wrap(acct.Transport())}
			patterns.LimitReplies(&opts)
			table := harness.NewTable[counter](t, harness.Open(t, acct.ConnectionString(), name, accelerated, opts.Transport), nil)
			body = new(endless)
			v := counter{"hits", "0", 1}
			_, err := table.Insert(t.Context(), &v)
			assert.WantError(t, err, patterns.ErrOutcomeUnknown)
			assert.WantError(t, err, patterns.ErrBadReply)
			most := map[string]int64{"get": 1, "query": 2} // a page of 2 rows, then of 1
			for what, read := range map[string]func() error{
				"get": func() error { _, err := table.Get(t.Context(), tally); return err },
				"query": func() (last error) {
					for _, err := range table.Query(t.Context(), query.PartitionKey.Eq("hits"), &patterns.QueryOptions{PageSize: 2}) {
						last = err
					}
					return last
				},
			} {
				acct.ResetLog()
				body = new(endless)
				assert.WantError(t, read(), patterns.ErrBadReply)
				if body.read > most[what]*(17<<20) {
					t.Errorf("%s: %d bytes were read", what, body.read)
				}
				if n := len(acct.Log()); int64(n) != most[what] {
					t.Errorf("%s: %d requests", what, n)
				}
			}
		})
	}
}

func TestAnInvalidPageIsErrBadReply(t *testing.T) {
	body := ""
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil {
				return nil, err
			}
			return harness.ReplaceBody(resp, func([]byte) []byte { return []byte(body) }), nil
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := harness.NewTable[counter](t, client, nil)
		for _, body = range []string{
			"{}", "null", "[]", `{"value":null}`, `{"odata.metadata":"m"}`, `{"values":[]}`, "<html>",
			`{"value":[{"N":1}]}`, `{"value":[{"PartitionKey":"hits","N":1}]}`,
		} {
			for name, read := range readsOf(t, table) {
				if err := read(); err == nil || errors.Is(err, patterns.ErrNotFound) || !errors.Is(err, patterns.ErrBadReply) {
					t.Errorf("%s of %s: %v", name, body, err)
				}
			}
		}
	})
}

// A page may be empty although a row follows, even if one row was requested.
func TestAPointReadContinuesAfterEmptyPages(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := harness.NewTable[mark](t, b.Table(t), nil)
		harness.Insert(t, table, mark{"p", "a", 1})
		harness.Insert(t, table, mark{"p", "b", 2})
		harness.Insert(t, table, mark{"", "a", 3})
		reader := assert.Must(patterns.Project[struct{ N int32 }](table))(t)
		b.Fault(emptyPages)
		for _, k := range []keys.Key{{Partition: "p", Row: "a"}, {Row: "a"}} {
			assert.Equal(t, assert.ErrorOf(reader.Get(t.Context(), k)), nil, "a projected Get")
			assert.Equal(t, assert.ErrorOf(table.Get(t.Context(), k)), nil, "Get")
		}
		page := assert.Must(reader.Page(t.Context(), query.And(query.PartitionKey.Eq("p"), query.RowKey.In("a", "b", "c")), "", nil))(t)
		if n := slices.Collect(func(yield func(int32) bool) {
			for _, item := range page.Items {
				yield(item.Value.N)
			}
		}); !slices.Equal(n, []int32{1, 2}) || page.Cursor != "" {
			t.Errorf("got %v, cursor %q", n, page.Cursor)
		}
	})
}
