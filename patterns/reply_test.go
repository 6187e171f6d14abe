package patterns_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAMalformedReplyIsErrBadReply(t *testing.T) {
	var body []byte
	requests := 0
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err != nil || req.Method != http.MethodGet {
				return resp, err
			}
			requests++
			return harness.ReplaceBody(resp, func([]byte) []byte { return body }), nil
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := harness.NewTable[counter](t, client, nil)
		harness.Insert(t, table, counter{"hits", "0", 1})
		for _, text := range []string{"", "{", "[]", "null", `"x"`, `{"PartitionKey":"hits"`, "{}x", "\xff", `{"N":01}`, `{"PartitionKey":1,"RowKey":"0"}`, "<html></html>"} {
			body, requests = []byte(text), 0
			item, err := table.Get(t.Context(), tally)
			if err == nil || item.Value != (counter{}) {
				t.Errorf("%q: got %+v, %v", text, item, err)
				continue
			}
			var property *patterns.PropertyError
			if !errors.Is(err, patterns.ErrBadReply) && !errors.As(err, &property) {
				t.Errorf("%q: got %v", text, err)
			}
			assert.Equal(t, requests, 1, text, "requests")
		}
	})
}

// A cache may return the reply to another request.
func TestAReplyWithAnotherRowIsErrBadReply(t *testing.T) {
	for what, body := range map[string]string{
		"another row":       `{"PartitionKey":"sales","RowKey":"SECRET","Age":30}`,
		"another partition": `{"PartitionKey":"SECRET","RowKey":"ann","Age":30}`,
		"no keys":           `{"value":[{"PartitionKey":"sales","RowKey":"ann"}]}`,
	} {
		t.Run(what, func(t *testing.T) {
			wrap := func(inner policy.Transporter) harness.Transport {
				return func(req *http.Request) (*http.Response, error) {
					resp, err := inner.Do(req)
					if err != nil || req.Method != http.MethodGet {
						return resp, err
					}
					return harness.ReplaceBody(resp, func([]byte) []byte { return []byte(body) }), nil
				}
			}
			harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, acct *storagetest.Account) {
				table := harness.NewTable[harness.Person](t, client, nil)
				harness.Insert(t, table, harness.NewPerson("ann"))
				_, getErr := table.Get(t.Context(), harness.NewPerson("ann").Key())
				_, updateErr := table.Update(t.Context(), harness.NewPerson("ann").Key(), func(*harness.Person) error { return nil })
				for _, err := range []error{getErr, updateErr} {
					assert.WantError(t, err, patterns.ErrBadReply)
					assert.WantHidden(t, err, "SECRET", "sales")
				}
				assert.Equal(t, acct.Log().Count("Table.Get"), 2, "reads")
			})
		})
	}
}

func TestAMalformedPropertyIsNamed(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		for row, text := range map[string]string{
			"text":   `"Age":"SECRET"`,
			"double": `"Age":1.5`,
			"wide":   `"Age@odata.type":"Edm.Int64","Age":"9999999999"`,
		} {
			_, err := client.AddEntity(t.Context(), fmt.Appendf(nil, `{"PartitionKey":"sales","RowKey":%q,%s}`, row, text), nil)
			assert.NoError(t, err)
		}
		table := harness.NewTable[harness.Person](t, client, nil)
		for _, row := range []string{"text", "double", "wide"} {
			b.ResetRequests()
			_, err := table.Get(t.Context(), keys.Key{Partition: "sales", Row: row})
			var p *patterns.PropertyError
			if !errors.As(err, &p) || p.Property != "Age" {
				t.Errorf("%s: got %v", row, err)
			}
			assert.WantHidden(t, err, "SECRET", "9999", "sales")
			b.WantRequestCount(t, 1) // a row that cannot be decoded is not read again
		}
	})
}

func TestAWriteWithAMalformedReplyOfSuccessIsResolved(t *testing.T) {
	wrap := func(inner policy.Transporter) harness.Transport {
		return func(req *http.Request) (*http.Response, error) {
			resp, err := inner.Do(req)
			if err == nil && req.Method != http.MethodGet {
				resp.Header.Set("Etag", "0x1")
				harness.ReplaceBody(resp, func(b []byte) []byte { return b[:len(b)/2] })
			}
			return resp, err
		}
	}
	harness.RunThrough(t, wrap, func(t *testing.T, client *aztables.Client, _ *storagetest.Account) {
		table := harness.NewTable(t, client, &patterns.TableOptions[counter]{StampWrites: true})
		item, err := table.Insert(t.Context(), &counter{"hits", "0", 1})
		if err != nil || item.ETag == "" || item.ETag == "0x1" {
			t.Errorf("insert: %v, %v", item, err)
		}
		assert.Equal(t, assert.ErrorOf(table.Batch().Insert(&counter{"hits", "1", 1}).Commit(t.Context())), nil, "batch")
		if _, err := table.Replace(t.Context(), item); err != nil && !errors.Is(err, patterns.ErrOutcomeUnknown) {
			t.Errorf("replace: %v", err)
		}
	})
}
