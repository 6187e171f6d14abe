package oldprogram

import (
	"encoding/json"
	"fmt"
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

func pick[E any](r *rand.Rand, of ...E) E { return of[r.IntN(len(of))] }

// fill stores a random value in v: one that encoding/json writes, and reads again as the same value.
func fill(r *rand.Rand, v reflect.Value) {
	switch p := v.Addr().Interface().(type) {
	case interface{ fill(r *rand.Rand) }:
		p.fill(r)
		return
	case *time.Time:
		*p = randomTime(r)
		return
	case *aztables.EDMDateTime:
		*p = aztables.EDMDateTime(time.Unix(r.Int64N(4e9), 0).UTC())
		return
	case *aztables.EDMGUID:
		*p = aztables.EDMGUID(randomUUID(r).String())
		return
	case *json.Number:
		*p = json.Number(randomNumber(r))
		return
	case *json.RawMessage:
		*p = randomScalar(r)
		return
	case *uuid.UUID:
		*p = randomUUID(r)
		return
	case *netip.Addr:
		*p = netip.AddrFrom4([4]byte{10, byte(r.Uint32()), 0, 1})
		return
	case *big.Int:
		p.SetInt64(r.Int64N(1 << 30))
		return
	case *any:
		must(json.Unmarshal(randomScalar(r), p))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(randomInt(r))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.Int32()) >> r.IntN(31) & (1<<v.Type().Bits() - 1))
	case reflect.Float32:
		v.SetFloat(pick(r, 0, 3, -17, float64(r.Float32()), float64(r.Int32N(1e6))))
	case reflect.Float64:
		v.SetFloat(randomFloat(r))
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Pointer:
		v.SetZero()
		if r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range r.IntN(4) {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e)
			v.SetMapIndex(reflect.ValueOf(randomKey(r)).Convert(v.Type().Key()), e)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fill(r, v.Field(i))
			}
		}
		annotate(v)
	default:
		panic(v.Type())
	}
}

// annotate sets the fields X@odata.type, with which programs on aztables store the types of fields X.
func annotate(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		if of, ok := strings.CutSuffix(f.name, "@odata.type"); ok {
			v.FieldByIndex(f.index).SetString(edmTypes[fieldNamed(v.Type(), of).typ])
		}
	}
}

var edmTypes = map[reflect.Type]string{
	reflect.TypeFor[aztables.EDMInt64]():    "Edm.Int64",
	reflect.TypeFor[aztables.EDMDateTime](): "Edm.DateTime",
	reflect.TypeFor[aztables.EDMGUID]():     "Edm.Guid",
	reflect.TypeFor[aztables.EDMBinary]():   "Edm.Binary",
}

// randomInt fits an Edm.Int32, because that is what the service stores for a number without a type.
func randomInt(r *rand.Rand) int64 {
	switch r.IntN(4) {
	case 0:
		return pick[int64](r, 0, 1, -1, math.MaxInt32, math.MinInt32)
	default:
		return int64(int32(r.Uint32())) >> r.IntN(32)
	}
}

func randomFloat(r *rand.Rand) float64 {
	return pick(r, 0, 3, -20000, 0.1, 1e21, -1e-7, 5e-324, math.MaxFloat64, r.NormFloat64(), math.Round(r.NormFloat64()*100)/100, float64(int32(r.Uint32())))
}

func randomNumber(r *rand.Rand) string {
	return pick(r, "0", "-0.0", "12", "1.50", "1e3", "1E+2", "-7", "0.1", strconv.Itoa(r.IntN(1e6)), fmt.Sprintf("%.4f", r.NormFloat64()))
}

func randomScalar(r *rand.Rand) []byte {
	return []byte(pick(r, "true", "false", `"text"`, `"<b>&"`, `""`, strconv.Itoa(int(int16(r.Uint32()))), "2.5", `"2026-03-01T00:00:00+02:00"`))
}

func randomUUID(r *rand.Rand) (u uuid.UUID) {
	for i := range u {
		u[i] = byte(r.Uint32())
	}
	return u
}

var words = []string{
	"", "a", "Bern", "3000", " padded ", "<b>&amp;", "tab\tline\nreturn\r", "quote\" slash/ back\\", "Grüße", "日本", "😀", "e\u0301", "\u2028\u0001\u007f",
	"2026-03-01T00:00:00+02:00", `{"City":"Bern","Zip":1.0}`, "true", "null", "0012", "'", "%20", "=1+1",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		b.WriteString(pick(r, words...))
	}
	return b.String()
}

func randomKey(r *rand.Rand) string { return string(rune('a'+r.IntN(26))) + strconv.Itoa(r.IntN(1000)) }

var zones = func() (zones []*time.Location) {
	zones = append(zones, time.UTC, time.UTC, time.FixedZone("", 0))
	for _, minutes := range []int{60, 120, -300, 330, 345, 840, -720, 1, -1} {
		zones = append(zones, time.FixedZone("", minutes*60))
	}
	return zones
}()

// randomTime is a time of a local zone as encoding/json stores it. Some are too early for an Edm.DateTime.
func randomTime(r *rand.Rand) time.Time {
	t := time.Unix(r.Int64N(8e9)-4e9, 0)
	switch r.IntN(8) {
	case 0:
		return time.Time{}
	case 1:
		t = time.Date(pick(r, 1, 1600, 1601, 9999), 6, 1, 0, 0, 0, 0, time.UTC)
	case 2:
		t = t.Add(time.Duration(r.Int64N(1e9)))
	case 3:
		t = t.Add(time.Duration(r.Int64N(1e7)) * 100)
	case 4:
		t = t.Add(time.Duration(r.Int64N(1000)) * time.Millisecond)
	}
	return t.In(pick(r, zones...))
}
