package conformance

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/azurite"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// sampleValue is a value as it is stored and as it is written in a filter.
type sampleValue struct{ typ, member, literal string }

// sampleValues returns values of every type, of which some look alike.
func sampleValues(random *mathrand.Rand) []sampleValue {
	var all []sampleValue
	add := func(typ, member, literal string) {
		if typ != "String" && typ != "Int32" && typ != "Boolean" {
			member = `"A@odata.type":"Edm.` + typ + `",` + member
		}
		all = append(all, sampleValue{typ, member, literal})
	}
	for range 4 {
		n := random.IntN(20) - 10
		text := strconv.Itoa(n)
		add("String", `"A":"`+text+`"`, "'"+text+"'")
		word := string(rune('a'+random.IntN(26))) + string(rune('A'+random.IntN(26)))
		add("String", `"A":"`+word+`"`, "'"+word+"'")
		add("Int32", `"A":`+text, text)
		add("Int64", `"A":"`+text+`"`, text+"L")
		half := strconv.FormatFloat(float64(n)+0.5, 'f', -1, 64)
		add("Double", `"A":`+half, half)
		at := time.Date(2020, 1, 2, 3, 4, 5, random.IntN(1000)*1_000_000+random.IntN(2)*700, time.UTC).Format("2006-01-02T15:04:05.0000000Z")
		add("DateTime", `"A":"`+at+`"`, "datetime'"+at+"'")
		id := fmt.Sprintf("%08x-213d-42c9-9a79-3e9149a57833", random.Uint32())
		add("Guid", `"A":"`+id+`"`, "guid'"+id+"'")
		b := []byte{byte(random.IntN(256)), byte(random.IntN(256))}
		add("Binary", `"A":"`+base64.StdEncoding.EncodeToString(b)+`"`, fmt.Sprintf("X'%x'", b))
	}
	add("Boolean", `"A":true`, "true")
	add("Boolean", `"A":false`, "false")
	return all
}

// azuriteFilters explains how Azurite differs, by the types of the stored value and of the literal. The service compares
// values of the same type only.
// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
var azuriteFilters = map[string]string{
	"two types": "Azurite converts the values as JavaScript does: the Int64 8 equals '8', and most values are ne to those of other types",
	"Int64":     "Azurite fails with 500 if a property is compared with an Int64 and is an Int32 in some row",
}

func TestFiltersOfRandomValuesOnBothAccounts(t *testing.T) {
	server := assert.Must(storagetest.New(t).Serve())(t)
	const seed = 14
	random := mathrand.New(mathrand.NewPCG(seed, 0))
	values := sampleValues(random)
	name := "R" + rand.Text()[:12]
	here := talk{t, tables, server.TablesURL, map[string]string{"{T}": name}, nil}
	azurite := talk{t, tables, azurite.Shared(t).TableURL(), here.names, nil}
	for _, k := range []talk{here, azurite} {
		if got := k.send(step{"POST /Tables", `{"TableName":"{T}"}`, "", ""}); got.summary != "201" {
			t.Fatal(got)
		}
		defer k.send(step{"DELETE /Tables('{T}')", "", "", ""})
		for i, v := range values {
			if got := k.send(step{fmt.Sprintf("PUT /{T}(PartitionKey='p',RowKey='%d')", i), "{" + v.member + "}", "", ""}); got.summary != "204" {
				t.Fatalf("%s: %v", v.member, got)
			}
		}
	}
	found := map[string]string{} // an example for each explanation
	for _, literal := range values {
		for _, operator := range []string{"eq", "ne", "lt", "le", "gt", "ge"} {
			filter := "A " + operator + " " + literal.literal
			want, got := matched(t, here, filter), matched(t, azurite, filter)
			for i, stored := range values {
				holds := slices.Contains(want, i)
				if holds && stored.typ != literal.typ {
					t.Errorf("%s matches %s", filter, stored.member)
				}
				types := literal.typ
				if stored.typ != literal.typ {
					types = "two types"
				}
				if holds != slices.Contains(got, i) && found[types] == "" {
					found[types] = fmt.Sprintf("%s, %s: Azurite %v", stored.member, filter, !holds)
				}
			}
		}
	}
	for types, example := range found {
		if azuriteFilters[types] == "" {
			t.Errorf("%s: %s", types, example)
		}
	}
	for types := range azuriteFilters {
		if found[types] == "" {
			t.Errorf("%s: listed as different, but no comparison is", types)
		}
	}
}

// matched returns the rows that a filter matches, none if it is refused.
func matched(t *testing.T, k talk, filter string) (rows []int) {
	t.Helper()
	got := k.send(step{"GET /{T}()?$select=RowKey&$filter=" + strings.ReplaceAll(filter, "+", "%2B"), "", "Accept: application/json;odata=nometadata", ""})
	if got.summary != "200" {
		return nil
	}
	body, _, _ := strings.Cut(got.text, "\n")
	var page struct{ Value []struct{ RowKey string } }
	assert.NoError(t, json.Unmarshal([]byte(body), &page), filter)
	for _, r := range page.Value {
		i := assert.Must(strconv.Atoi(r.RowKey))(t)
		rows = append(rows, i)
	}
	return rows
}
