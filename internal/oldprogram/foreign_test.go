package oldprogram

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/google/uuid"
)

// foreignRow is a row as a program in another language, or one on aztables.EDMEntity, stores it: the properties of the type t
// in all stored types and spellings in which the fields read them, and properties that t lacks.
func foreignRow(r *rand.Rand, t reflect.Type) aztables.EDMEntity {
	e := aztables.EDMEntity{Properties: map[string]any{}}
	set := func(name string, value any, edm string) {
		e.Properties[name] = value
		if edm != "" {
			e.Properties[name+"@odata.type"] = edm
		}
	}
	for _, f := range fieldsOf(t) {
		if strings.Contains(f.name, "@") || r.IntN(6) == 0 {
			continue
		}
		if value, edm := foreign(r, f); value != nil {
			set(f.name, value, edm)
		}
	}
	for i := range r.IntN(5) {
		value, edm := unknown(r)
		set("Unknown"+strconv.Itoa(i), value, edm)
	}
	return e
}

// unknown is a value of any type. The types that aztables has are left to it.
func unknown(r *rand.Rand) (value any, edm string) {
	switch r.IntN(12) {
	case 0:
		return r.IntN(2) == 0, ""
	case 1:
		return int32(r.Uint32()), ""
	case 2:
		return aztables.EDMInt64(r.Uint64()), ""
	case 3:
		return randomFloat(r), "" // a whole one becomes an Edm.Int32
	case 4:
		return randomFloat(r), "Edm.Double"
	case 5:
		return pick(r, "NaN", "Infinity", "-Infinity"), "Edm.Double"
	case 6:
		return aztables.EDMDateTime(time.Unix(r.Int64N(4e9), r.Int64N(1e7)*100).UTC()), ""
	case 7:
		return dateTimeText(r), "Edm.DateTime"
	case 8:
		return aztables.EDMGUID(randomUUID(r).String()), ""
	case 9:
		u := randomUUID(r)
		return aztables.EDMBinary(u[:r.IntN(16)]), ""
	}
	return randomText(r), ""
}

// dateTimeText is an Edm.DateTime with 0 to 7 decimals, as programs write it: the service returns it without zeros at the end, Azurite
// keeps them.
func dateTimeText(r *rand.Rand) string {
	t := time.Unix(r.Int64N(4e9), r.Int64N(1e7)*100).UTC()
	text := t.Truncate(pick(r, time.Second, 10*time.Millisecond, time.Millisecond, 100)).Format("2006-01-02T15:04:05.0000000")
	return strings.TrimSuffix(text[:len(text)-r.IntN(8)], ".") + "Z"
}

// timeText is a spelling of a time as text that encoding/json reads.
func timeText(r *rand.Rand) string {
	t := randomTime(r)
	text := t.Format(pick(r, time.RFC3339Nano, time.RFC3339, "2006-01-02T15:04:05.000Z07:00", "2006-01-02T15:04:05.000000000Z07:00"))
	if r.IntN(3) == 0 {
		text = strings.Replace(text, "Z", pick(r, "+00:00", "-00:00"), 1)
	}
	return text
}

// foreign is a value that the field reads, and its type if aztables has none for it.
func foreign(r *rand.Rand, f field) (value any, edm string) {
	v := reflect.New(f.typ).Elem()
	fill(r, v)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil, ""
		}
		v = v.Elem()
	}
	if f.json {
		return docText(r, v), ""
	}
	switch x := v.Addr().Interface().(type) {
	case *json.Number:
		if f.declares == "string" {
			return pick(r, x.String(), "12", "1.50", "1E2"), ""
		}
		return foreignNumber(r, x)
	case *big.Int:
		switch r.IntN(4) {
		case 0:
			return pick(r, x.String(), "0012", "-0", "123456789012345678901234567890"), ""
		case 1:
			return float64(x.Int64()), "Edm.Double"
		}
		return foreignInt(r, x.Int64(), "")
	}
	if f.declares == "string" && v.Kind() != reflect.Struct && v.Kind() != reflect.Slice && v.Kind() != reflect.String {
		return string(textOf(v)), ""
	}
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		if f.declares != "" {
			return timeText(r), ""
		}
		if r.IntN(3) == 0 {
			return dateTimeText(r), "Edm.DateTime"
		}
		return timeText(r), ""
	case *Stamp:
		return timeText(r), ""
	case *aztables.EDMDateTime:
		return *x, ""
	case *aztables.EDMInt64:
		return *x, ""
	case *aztables.EDMGUID:
		return *x, ""
	case *uuid.UUID:
		return pick(r, strings.ToUpper, strings.ToLower)(x.String()), pick(r, "", "Edm.Guid")
	case *Level:
		return pick(r, strings.ToUpper, strings.ToLower)(levels[*x]), ""
	case *netip.Addr:
		return pick(r, "10.0.0.1", "::ffff:10.0.0.1", "2001:DB8:0:0::1", ""), ""
	case *Flag:
		return pick(r, "Y", "y", "N", "n", "?"), ""
	case *Money:
		return float64(*x) / 100, pick(r, "", "Edm.Double")
	}
	if f.typ.Implements(reflect.TypeFor[json.Marshaler]()) || f.typ.Kind() == reflect.Struct {
		return json.RawMessage(textOf(v)), ""
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), ""
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return foreignInt(r, v.Int(), f.declares)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return foreignInt(r, int64(v.Uint()), "")
	case reflect.Float32:
		return v.Float(), pick(r, "", "Edm.Double")
	case reflect.Float64:
		if r.IntN(8) == 0 {
			return pick(r, "NaN", "Infinity", "-Infinity"), "Edm.Double"
		}
		return randomFloat(r), pick(r, "", "Edm.Double")
	case reflect.String:
		return randomText(r), ""
	case reflect.Slice:
		if f.typ.Elem().Kind() == reflect.Uint8 {
			return base64.StdEncoding.EncodeToString(v.Bytes()), pick(r, "", "Edm.Binary")
		}
	}
	return nil, ""
}

// foreignNumber is a number in any type from which a json.Number is read.
func foreignNumber(r *rand.Rand, n *json.Number) (value any, edm string) {
	switch r.IntN(4) {
	case 0:
		return n.String(), ""
	case 1:
		return aztables.EDMInt64(r.Uint64()), ""
	}
	return *n, pick(r, "", "Edm.Double")
}

func foreignInt(r *rand.Rand, i int64, declares string) (value any, edm string) {
	if declares == "" && r.IntN(3) == 0 {
		return aztables.EDMInt64(i), ""
	}
	return int32(max(math.MinInt32, min(math.MaxInt32, i))), ""
}

// docText is JSON text with members that azpatterns does not know, in other orders and with white space.
func docText(r *rand.Rand, v reflect.Value) string {
	var tree any
	must(json.Unmarshal(textOf(v), &tree))
	addMembers(r, tree, v.Type())
	text, err := json.Marshal(tree)
	if r.IntN(2) == 0 {
		text, err = json.MarshalIndent(tree, "", pick(r, "", "  ", "\t"))
	}
	must(err)
	if r.IntN(3) == 0 {
		return " " + string(text) + "\n"
	}
	return string(text)
}

// addMembers adds members to objects that are structs of the type t.
func addMembers(r *rand.Rand, tree any, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isScalar(t) {
		return
	}
	switch tree := tree.(type) {
	case map[string]any:
		if t.Kind() == reflect.Map {
			for _, member := range tree {
				addMembers(r, member, t.Elem())
			}
		}
		if t.Kind() != reflect.Struct {
			return
		}
		for _, f := range reflect.VisibleFields(t) {
			if member := tree[memberName(f)]; member != nil {
				addMembers(r, member, f.Type)
			}
		}
		for i := range r.IntN(3) {
			tree["zz"+strconv.Itoa(i)] = pick[any](r, json.Number("1.00"), json.Number("1E2"), nil, []any{}, map[string]any{"z": []any{1.0, "</>"}}, "x")
		}
	case []any:
		for _, member := range tree {
			if t.Kind() == reflect.Slice {
				addMembers(r, member, t.Elem())
			}
		}
	}
}
