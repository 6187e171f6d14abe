package table

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
)

// modelProp is a property as it is sent and as it must be returned.
type modelProp struct {
	name, note string // note is the type in its annotation, "" if it has none
	json       string
}

// modelRow is a row that must be returned.
type modelRow struct {
	props []modelProp
	etag  string // "" if it is not known
}

// write returns the properties after a write.
func (r modelRow) write(merge bool, props []modelProp) []modelProp {
	if !merge {
		return props
	}
	all := slices.Clone(r.props)
	for _, p := range props {
		if i := slices.IndexFunc(all, func(old modelProp) bool { return old.name == p.name }); i >= 0 {
			all[i] = p
		} else {
			all = append(all, p)
		}
	}
	return all
}

// object returns the properties as a JSON object, with their annotations or without.
func object(props []modelProp, annotated bool) string {
	var members []string
	for _, p := range props {
		if p.note != "" && annotated {
			members = append(members, fmt.Sprintf(`"%s@odata.type":"%s"`, p.name, p.note))
		}
		members = append(members, fmt.Sprintf(`"%s":%s`, p.name, p.json))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// propNames are property names. Some are the beginning of others, or long.
var propNames = rapid.OneOf(
	rapid.SampledFrom([]string{"A", "AA", "a", "Age", "Type", "type", "odata", "odata_type", "_", "É", "名前", "Ⅷ", "partitionkey", strings.Repeat("N", 255), strings.Repeat("名", 255)}),
	rapid.StringMatching(`[_\p{L}\p{Nl}][_\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}\p{Cf}]{0,11}`),
).Filter(func(s string) bool { return s != "PartitionKey" && s != "RowKey" && s != "Timestamp" })

// values are values of every type, with names that are replaced.
var values = rapid.Custom(func(t *rapid.T) modelProp {
	quoted := func(note, text string) modelProp { return modelProp{note: note, json: `"` + text + `"`} }
	switch rapid.IntRange(0, 8).Draw(t, "type") {
	case 0:
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `","A":"`, "\x00\n\u2028<&>", strings.Repeat("x", 127), strings.Repeat("é", 200), strings.Repeat(`"`, 9000)})).Draw(t, "text")
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return modelProp{json: string(b)}
	case 1:
		return modelProp{json: fmt.Sprint(rapid.Int32().Draw(t, "int32"))}
	case 2:
		return quoted("Edm.Int64", fmt.Sprint(rapid.Int64().Draw(t, "int64")))
	case 3:
		text := strconv.FormatFloat(rapid.Float64().Draw(t, "double"), 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return modelProp{json: text}
	case 4:
		return quoted("Edm.Double", rapid.SampledFrom([]string{"NaN", "Infinity", "-Infinity"}).Draw(t, "special"))
	case 5:
		return modelProp{json: fmt.Sprint(rapid.Bool().Draw(t, "bool"))}
	case 6:
		first, last := time.Date(1601, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
		at := time.Unix(rapid.Int64Range(first, last).Draw(t, "second"), rapid.Int64Range(0, 9_999_999).Draw(t, "ticks")*100)
		return quoted("Edm.DateTime", at.UTC().Format("2006-01-02T15:04:05.9999999Z"))
	case 7:
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "GUID")
		return quoted("Edm.Guid", fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
	}
	return quoted("Edm.Binary", base64.StdEncoding.EncodeToString(rapid.SliceOf(rapid.Byte()).Draw(t, "binary")))
})

// manyProps are the properties of a row or of a change.
var manyProps = rapid.Custom(func(t *rapid.T) []modelProp {
	if rapid.IntRange(0, 19).Draw(t, "full") == 0 {
		full := make([]modelProp, maxProperties)
		for i := range full {
			full[i] = values.Draw(t, "value")
			full[i].name = fmt.Sprint("P", i)
		}
		return full
	}
	var props []modelProp
	for _, name := range rapid.SliceOfNDistinct(propNames, 0, 12, rapid.ID[string]).Draw(t, "names") {
		p := values.Draw(t, "value")
		p.name = name
		props = append(props, p)
	}
	return props
})

// member is a member of a JSON object: a string, a json.Number, a bool or nil.
type member struct {
	name  string
	value json.Token
}

// membersOf returns the members of an object in their order.
func membersOf(tb rapid.TB, text string) []member {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	token := func() json.Token {
		v, err := d.Token()
		assert.NoError(tb, err, "in", text)
		return v
	}
	token() // the brace
	var all []member
	for d.More() {
		name, _ := token().(string)
		all = append(all, member{name, token()})
	}
	return all
}

// own returns the members of a row that are not metadata, and the ETag among the metadata.
func own(tb rapid.TB, text string) (all []member, etag string) {
	for _, m := range membersOf(tb, text) {
		switch {
		case m.name == "odata.etag":
			etag, _ = m.value.(string)
		case !strings.HasPrefix(m.name, "odata.") && m.name != "Timestamp@odata.type":
			all = append(all, m)
		}
	}
	return all, etag
}

// check fails the test unless a reply contains the row at key, with the metadata of a level.
func (r modelRow) check(tb rapid.TB, key, text, level string) {
	got, etag := own(tb, text)
	if len(got) < 3 || got[2].name != "Timestamp" {
		tb.Fatalf("%s: no Timestamp in %s", key, text)
	}
	at := fmt.Sprint(got[2].value)
	changed := `W/"datetime'` + strings.ReplaceAll(at, ":", "%3A") + `'"`
	if level != "nometadata" && etag != changed || r.etag != "" && changed != r.etag {
		tb.Fatalf("%s: Timestamp %s, ETag %s, written %s", key, at, etag, r.etag)
	}
	want := append([]member{{"PartitionKey", "p"}, {"RowKey", key}, {"Timestamp", at}}, membersOf(tb, object(r.props, level != "nometadata"))...)
	assert.EqualSlices(assert.Now(tb), got, want, key, level)
}

// checkSelected is check for a read of some properties, of which a row may have none.
func (r modelRow) checkSelected(tb rapid.TB, key, text, level string, selected []string) {
	var props []modelProp
	for _, name := range selected {
		p := modelProp{name: name, json: "null"}
		if i := slices.IndexFunc(r.props, func(p modelProp) bool { return p.name == name }); i >= 0 {
			p = r.props[i]
		}
		props = append(props, p)
	}
	got, _ := own(tb, text)
	assert.EqualSlices(assert.Now(tb), got, membersOf(tb, object(props, level != "nometadata")), key, level, selected)
}

func TestRowsOfAnyPropertiesAreReturnedAsTheyWereWritten(t *testing.T) {
	level := rapid.SampledFrom([]string{"minimalmetadata", "nometadata", "fullmetadata"})
	rapid.Check(t, func(rt *rapid.T) {
		a := newAPI(t)
		m := map[string]modelRow{}
		write := func(key string, merge bool, props []modelProp, batch bool) {
			method, old := "PUT", m[key]
			if merge {
				method = "PATCH"
			}
			all := old.write(merge, props)
			fits := len(all) <= maxProperties
			r := modelRow{props: all}
			if batch {
				statuses, _ := a.submit(batchOp{method, "/T12" + address2("p", key), object(props, true), nil})
				assert.Equal(assert.Now(rt), len(statuses), 1)
				assert.Equal(assert.Now(rt), fits, statuses[0] == http.StatusNoContent)
			} else {
				got := a.do(method, "/T12"+address2("p", key), object(props, true))
				assert.Equal(assert.Now(rt), fits, got.StatusCode == http.StatusNoContent, got.StatusCode, got.body, "for", len(all), "properties")
				r.etag = got.Header.Get("ETag")
			}
			if fits {
				m[key] = r
			}
		}
		// Sometimes more shapes than a table shares: some are replaced before they occur again.
		count, step := 3, rapid.IntRange(1, 400).Draw(rt, "step")
		if rapid.IntRange(0, 4).Draw(rt, "many") == 0 {
			count = maxShapes + 50
		}
		for i := range count {
			write(fmt.Sprint(i), false, []modelProp{{fmt.Sprint("P", i*step%count), "", strconv.Itoa(i)}, {"Q", "Edm.Int64", `"7"`}}, false)
		}
		for range rapid.IntRange(1, 20).Draw(rt, "writes") {
			key := fmt.Sprint(rapid.IntRange(0, count).Draw(rt, "key"))
			props := manyProps.Draw(rt, "props")
			if rapid.Bool().Draw(rt, "known") && len(m[key].props) > 0 { // the same property, of another type
				p := values.Draw(rt, "value")
				p.name = m[key].props[0].name
				props = []modelProp{p}
			}
			write(key, rapid.Bool().Draw(rt, "merge"), props, rapid.Bool().Draw(rt, "batch"))
			l := level.Draw(rt, "level")
			accept := "Accept: application/json;odata=" + l
			got := a.want(200, "", a.do("GET", "/T12"+address2("p", key), "", accept))
			m[key].check(rt, key, got.body, l)
			var selected []string
			for _, p := range m[key].props {
				if len(selected) < 5 && len(p.name) < 20 && rapid.Bool().Draw(rt, "selected") {
					selected = append(selected, p.name)
				}
			}
			selected = append(selected, "None")
			got = a.want(200, "", a.do("GET", "/T12"+address2("p", key)+"?$select="+strings.Join(selected, ","), "", accept))
			m[key].checkSelected(rt, key, got.body, l, selected)
		}
		l := level.Draw(rt, "level")
		var page struct{ Value []json.RawMessage }
		got := a.want(200, "", a.do("GET", "/T12()", "", "Accept: application/json;odata="+l))
		assert.NoError(rt, json.Unmarshal([]byte(got.body), &page))
		assert.Equal(assert.Now(rt), len(page.Value), len(m))
		for _, text := range page.Value {
			var r struct{ RowKey string }
			assert.NoError(rt, json.Unmarshal(text, &r))
			m[r.RowKey].check(rt, r.RowKey, string(text), l)
		}
	})
}

func TestATableSharesALimitedNumberOfShapes(t *testing.T) {
	float := func(v float64) filter.Value { return filter.Value{Type: filter.Double, Float: v} }
	var tb table
	a := tb.newRow("p", "a", 0, []property{{"A", float(1)}, {"B", float(2)}})
	if b := tb.newRow("p", "b", 0, []property{{"A", float(3)}, {"B", float(4)}}); a.shape != b.shape {
		t.Error("two rows of the same properties have a shape each")
	}
	if b := tb.newRow("p", "b", 0, []property{{"A", float(3)}, {"B", float(math.NaN())}}); a.shape == b.shape {
		t.Error("a row with an annotation and one without it share a shape")
	}
	for i := range 2 * maxShapes {
		tb.newRow("p", "c", 0, []property{{fmt.Sprint("C", i), float(1)}})
	}
	assert.Equal(t, len(tb.shapes), maxShapes, "shapes")
}
