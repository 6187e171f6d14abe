package oldprogram

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// respell returns a row with the same values as row in other types and spellings, as another program in another language stores them. t
// is the struct by which azpatterns reads both.
func respell(r *rand.Rand, row stored, t reflect.Type) stored {
	row = row.without()
	for _, f := range fieldsOf(t) {
		p, found := row[f.name]
		if strings.Contains(f.name, "@") || f.name == "ID" || f.name == "Mail" || f.name == "Group" || f.json || r.IntN(2) == 0 || f.typ.Name() != "" && f.typ.PkgPath() != "" && f.typ != typ[time.Time]() {
			continue
		}
		if !found {
			if zero, ok := zeroOf[f.typ.Kind()]; ok && !f.omits {
				row[f.name] = zero
			}
			continue
		}
		switch f.typ.Kind() {
		case reflect.Float64:
			x, err := strconv.ParseFloat(p.text, 64)
			switch {
			case err != nil || f.declares != "":
			case x == 0:
				delete(row, f.name)
			case x != math.Trunc(x) || math.Abs(x) > math.MaxInt32:
			case p.edm == "Edm.Double":
				row[f.name] = property{strconv.FormatFloat(x, 'f', 0, 64), "Edm.Int32"}
			default:
				row[f.name] = property{strconv.FormatFloat(x, 'f', 1, 64), "Edm.Double"}
			}
		case reflect.Int, reflect.Int64:
			switch {
			case f.declares != "":
			case p.text == "0" || p.text == `"0"`:
				delete(row, f.name)
			case p.edm == "Edm.Int32":
				row[f.name] = property{`"` + p.text + `"`, "Edm.Int64"}
			}
		case reflect.Bool:
			if p.text == "false" {
				delete(row, f.name)
			}
		case reflect.String:
			if p.text == `""` {
				delete(row, f.name)
			}
		case reflect.Struct: // a time
			var at time.Time
			if must(json.Unmarshal([]byte(p.text), &at)); p.edm == "Edm.String" && at.Year() > 1 && at.Year() < 9999 {
				row[f.name] = textProperty(at.In(pick(r, zones...)).Format(time.RFC3339Nano))
			}
		}
	}
	return row
}

var zeroOf = map[reflect.Kind]property{
	reflect.Bool: {"false", "Edm.Boolean"}, reflect.Int: {`"0"`, "Edm.Int64"}, reflect.Int32: {"0", "Edm.Int32"}, reflect.String: {`""`, "Edm.String"}, reflect.Float64: {"0.0", "Edm.Double"},
}
