package oldprogram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
)

// property is a property as the service sends it: the JSON text of its value, and its type.
type property struct{ text, edm string }

// stored is a row by the names of its properties, without keys and Timestamp.
type stored map[string]property

// without returns the row without some properties, and without those of a Store.
func (s stored) without(names ...string) stored {
	s = maps.Clone(s)
	maps.DeleteFunc(s, func(name string, _ property) bool {
		return slices.Contains(names, name) || strings.HasPrefix(name, "azp_")
	})
	return s
}

// diff describes how the row differs from want, "" if it does not.
func (s stored) diff(want stored) string {
	var b strings.Builder
	names := maps.Clone(s)
	maps.Copy(names, want)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		got, found := s[name]
		was, wanted := want[name]
		switch {
		case !wanted:
			fmt.Fprintf(&b, "  %s: added as %s %s\n", name, got.edm, got.text)
		case !found:
			fmt.Fprintf(&b, "  %s: lost %s %s\n", name, was.edm, was.text)
		case got != was:
			fmt.Fprintf(&b, "  %s: %s %s, want %s %s\n", name, got.edm, got.text, was.edm, was.text)
		}
	}
	return b.String()
}

// world is a table, as three programs see it: the old program, azpatterns, and an observer that reads what is stored.
type world struct {
	*harness.Backend
	name    string
	client  *aztables.Client // of azpatterns, plain or accelerated
	hand    *aztables.Client // of the old program, always plain
	observe *aztables.Client
	body    []byte // of the last reply to observe
}

func newWorld(t testing.TB, b *harness.Backend) *world {
	w := &world{Backend: b, name: harness.UniqueName()}
	w.client = b.NamedTable(t, w.name)
	plain := *b
	plain.Accelerated = false
	w.hand = plain.Direct(t, w.name)
	plain.Configure = func(o *azcore.ClientOptions) { o.PerRetryPolicies = append(o.PerRetryPolicies, w) }
	w.observe = plain.Direct(t, w.name)
	return w
}

// Do keeps the text of a page, because aztables decodes numbers and encodes them again.
func (w *world) Do(req *policy.Request) (*http.Response, error) {
	resp, err := req.Next()
	if err == nil && resp.StatusCode == http.StatusOK {
		w.body, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(strings.NewReader(`{"value":[]}`))
	}
	return resp, err
}

// rows returns the rows whose partition key begins with lead.
func (w *world) rows(t testing.TB, lead string) map[keys.Key]stored {
	t.Helper()
	rows := map[keys.Key]stored{}
	opts := &aztables.ListEntitiesOptions{
		Format: to.Ptr(aztables.MetadataFormatFull),
		Filter: to.Ptr(fmt.Sprintf("PartitionKey ge '%s' and PartitionKey lt '%s~'", lead, lead)),
	}
	for pager := w.observe.NewListEntitiesPager(opts); pager.More(); {
		assert.NoError(t, assert.ErrorOf(pager.NextPage(context.Background())))
		var page struct {
			Value []map[string]json.RawMessage `json:"value"`
		}
		assert.NoError(t, json.Unmarshal(w.body, &page))
		for _, row := range page.Value {
			var key keys.Key
			assert.NoError(t, json.Unmarshal(row["PartitionKey"], &key.Partition))
			assert.NoError(t, json.Unmarshal(row["RowKey"], &key.Row))
			rows[key] = storedOf(row)
		}
	}
	return rows
}

func storedOf(row map[string]json.RawMessage) stored {
	s := stored{}
	for name, text := range row {
		switch {
		case name == "PartitionKey", name == "RowKey", name == "Timestamp", strings.HasPrefix(name, "odata."), strings.HasSuffix(name, "@odata.type"):
			continue
		}
		p := property{text: string(bytes.TrimSpace(text)), edm: strings.Trim(string(row[name+"@odata.type"]), `"`)}
		if p.edm == "" {
			switch {
			case p.text[0] == '"':
				p.edm = "Edm.String"
			case p.text[0] == 't' || p.text[0] == 'f':
				p.edm = "Edm.Boolean"
			case strings.ContainsAny(p.text, ".eE"):
				p.edm = "Edm.Double"
			default:
				p.edm = "Edm.Int32"
			}
		}
		s[name] = p
	}
	return s
}

// json returns the row as the service sends it, which the old program decodes, and stores with the same types.
func (s stored) json(key keys.Key) []byte {
	row := map[string]any{"PartitionKey": key.Partition, "RowKey": key.Row}
	for name, p := range s {
		row[name] = json.RawMessage(p.text)
		switch p.edm {
		case "Edm.String", "Edm.Boolean", "Edm.Int32":
		default:
			row[name+"@odata.type"] = p.edm
		}
	}
	text, err := json.Marshal(row)
	must(err)
	return text
}
