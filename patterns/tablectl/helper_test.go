package tablectl

import (
	"bytes"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// output is what a command line printed.
type output struct {
	code     int
	out, err string
}

// tablectl runs a command line. The account of -demo is acct; if that is nil, a new one with the samples.
func tablectl(t testing.TB, acct *storagetest.Account, args ...string) output {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli{in: strings.NewReader(""), out: &out, err: &errs, demo: acct}
	code := c.run(t.Context(), args)
	return output{code, out.String(), errs.String()}
}

// must runs a command line that must end with an exit code.
func must(t testing.TB, code int, acct *storagetest.Account, args ...string) output {
	t.Helper()
	o := tablectl(t, acct, args...)
	assert.Equal(assert.Now(t), o.code, code, args, "exit code", o.out, o.err)
	return o
}

// newTable creates a table with rows.
func newTable(t testing.TB, acct *storagetest.Account, name string, rows []row) {
	t.Helper()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	table := openTable(acct.TablesWith(&opts).NewClient(name))
	err := table.Create(t.Context())
	if err == nil {
		_, err = table.Bulk(t.Context(), operations(pointersTo(rows), "insert"), nil)
	}
	assert.NoError(t, err)
}

func pointersTo(rows []row) (pointers []*row) {
	for i := range rows {
		pointers = append(pointers, &rows[i])
	}
	return pointers
}

func newRow(key keys.Key, p properties) row {
	return row{Item: patterns.Item[stored]{Key: key, Value: stored{p}}}
}

// lineOf returns the row as export writes it.
func lineOf(r row) []byte {
	text, err := patterns.EncodeJSON(r.Item)
	if err != nil {
		panic(err)
	}
	return text
}

// sampleRows returns rows in 7 partitions, some of them with keys that need escaping.
func sampleRows(n int) []row {
	rows := make([]row, n)
	for i := range rows {
		partition := []string{"", "it's", "a&b", "ü", "\U0001F600", "100%", "<x>"}[i%7]
		rows[i] = newRow(keys.Key{Partition: partition, Row: string(appendDecimal(nil, i))}, properties{
			"Number": int32(i), "Text": "row", "Big": int64(i) << 40, "At": time.Date(2014, 7, 31, 0, 0, i, 100, time.UTC),
		})
	}
	return rows
}

func appendDecimal(dst []byte, i int) []byte {
	return append(dst, byte('0'+i/10000%10), byte('0'+i/1000%10), byte('0'+i/100%10), byte('0'+i/10%10), byte('0'+i%10))
}

// textOf returns the lines of rows in the order of keys, with the values spelled as those of new rows.
func textOf(rows []row) string {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int { return a.Key.Compare(b.Key) })
	var text []byte
	for _, r := range rows {
		text = append(append(text, lineOf(newRow(r.Key, r.Value.Properties))...), '\n')
	}
	return string(text)
}

// fileText returns the lines of a file in the order of their keys.
func fileText(t testing.TB, path string) string {
	t.Helper()
	var rows []row
	for r, err := range fileRows(path) {
		assert.NoError(t, err)
		rows = append(rows, r)
	}
	return textOf(rows)
}

// tableText returns the rows of a table as lines.
func tableText(t testing.TB, acct *storagetest.Account, name string) string {
	t.Helper()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	table := openTable(acct.TablesWith(&opts).NewClient(name))
	var rows []row
	for page, err := range table.Scan(t.Context(), anyRow, "", nil) {
		assert.NoError(t, err)
		for _, item := range page.Items {
			rows = append(rows, row{Item: item})
		}
	}
	return textOf(rows)
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// drawText draws a text with every kind of character.
func drawText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00", "\u2028<>&", `\ud800`, `"\`, "\U0010FFFF", "\uFFFD", "it's", "\r\n"}))
}

// drawKey draws a part of a key that the service accepts.
func drawKey() *rapid.Generator[string] {
	return rapid.Map(drawText(), func(s string) string {
		return strings.Map(func(c rune) rune {
			if c < ' ' || c >= 0x7F && c < 0xA0 || strings.ContainsRune(`/\#?`, c) {
				return '_'
			}
			return c
		}, s)
	})
}

func drawValue() *rapid.Generator[any] {
	times := rapid.Custom(func(t *rapid.T) any {
		first, last := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC)
		return rapid.SampledFrom([]time.Time{first, last, time.Unix(rapid.Int64Range(first.Unix(), last.Unix()).Draw(t, "seconds"),
			rapid.Int64Range(0, 9_999_999).Draw(t, "ticks")*100).UTC()}).Draw(t, "time")
	})
	special := []any{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 1e21, 1e20, 5e-324, math.MaxFloat64, int32(math.MinInt32),
		int64(math.MinInt64), int64(math.MaxInt64), true, false, "", []byte{}, [16]byte{}}
	return rapid.OneOf(rapid.SampledFrom(special), times,
		rapid.Map(drawText(), func(v string) any { return v }), rapid.Map(rapid.Int32(), func(v int32) any { return v }),
		rapid.Map(rapid.Int64(), func(v int64) any { return v }), rapid.Map(rapid.Float64(), func(v float64) any { return v }),
		rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(v int64) any { return float64(v) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(v []byte) any { return append([]byte{}, v...) }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(v []byte) any { return [16]byte(v) }))
}

// drawRows draws rows with different keys, the first of them with 252 properties.
func drawRows(t *rapid.T) []row {
	name := rapid.OneOf(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,20}`), rapid.SampledFrom([]string{"ü", "azp_view", "azp_outbox", "odata", "Timestamps"}))
	names := name.Filter(func(s string) bool {
		return s != "PartitionKey" && s != "RowKey" && s != "Timestamp" && s != "azp_stamp"
	})
	rows := map[keys.Key]row{}
	for i := range rapid.IntRange(0, 20).Draw(t, "rows") {
		k := keys.Key{Partition: drawKey().Draw(t, "partition key"), Row: drawKey().Draw(t, "row key")}
		p := rapid.MapOfN(names, drawValue(), 0, 12).Draw(t, "properties")
		for j := range 252 - len(p) {
			if i > 0 {
				break
			}
			p["P"+string(appendDecimal(nil, j))] = int32(j)
		}
		rows[k] = newRow(k, p)
	}
	return slices.Collect(maps.Values(rows))
}
