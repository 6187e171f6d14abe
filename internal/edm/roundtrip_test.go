package edm

import (
	"encoding/json"
	"math"
	"math/big"
	"net/netip"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func drawTime(t *rapid.T, name string) time.Time {
	// 1601 to 9999, in steps of 100 ns
	s := rapid.Int64Range(-11644473600, 253402300799).Draw(t, name)
	return time.Unix(s, rapid.Int64Range(0, 9999999).Draw(t, name+" fraction")*100).UTC()
}

func drawBytes(t *rapid.T, name string) []byte {
	if b := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, name); b != nil {
		return b
	}
	return []byte{}
}

func drawFloat(t *rapid.T, name string) float64 {
	return rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Int64(), func(i int64) float64 { return float64(i) }),
		rapid.SampledFrom([]float64{0, math.Inf(1), math.Inf(-1), 1e21, 1e20, 1e-6, 1e-7, math.MaxFloat64, math.SmallestNonzeroFloat64})).Draw(t, name)
}

func drawEverything(t *rapid.T) everything {
	guid := func(name string) [16]byte { return [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, name)) }
	v := everything{
		S: rapid.String().Draw(t, "S"), B: rapid.Bool().Draw(t, "B"),
		I8: rapid.Int8().Draw(t, "I8"), I16: rapid.Int16().Draw(t, "I16"), I32: rapid.Int32().Draw(t, "I32"),
		U8: rapid.Uint8().Draw(t, "U8"), U16: rapid.Uint16().Draw(t, "U16"), I: rapid.Int().Draw(t, "I"), I64: rapid.Int64().Draw(t, "I64"),
		U32: rapid.Uint32().Draw(t, "U32"), U64: rapid.Uint64Max(math.MaxInt64).Draw(t, "U64"), D: time.Duration(rapid.Int64().Draw(t, "D")),
		F32: rapid.Float32().Draw(t, "F32"), F64: drawFloat(t, "F64"), T: drawTime(t, "T"), Bin: drawBytes(t, "Bin"), G: guid("G"), Arr: guid("Arr"),
		EI: aztables.EDMInt64(rapid.Int64().Draw(t, "EI")), ET: aztables.EDMDateTime(drawTime(t, "ET")),
		EG: aztables.EDMGUID(uuid.UUID(guid("EG")).String()), EB: drawBytes(t, "EB"), Addr: netip.AddrFrom16(guid("Addr")),
	}
	if rapid.Bool().Draw(t, "optional") {
		v.Big = new(big.Int).SetBytes(append([]byte{1}, drawBytes(t, "Big")...))
		v.J = rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "J")
		v.Raw, _ = json.Marshal(rapid.String().Draw(t, "Raw"))
		v.PS, v.PI, v.PT = ptr(rapid.String().Draw(t, "PS")), ptr(rapid.Int64().Draw(t, "PI")), ptr(drawTime(t, "PT"))
	}
	return v
}

// TestEveryTypeRoundTrips reads values back from the body as written, from the body as
// rewritten by a client that does not annotate, from a map and from unknown properties.
func TestEveryTypeRoundTrips(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := drawEverything(r)
		e := Envelope{PartitionKey: rapid.String().Draw(r, "pk"), RowKey: rapid.String().Draw(r, "rk"), Stamp: rapid.String().Draw(r, "stamp")}
		body := assert.Must(appendRow(t, &in, e))(r)
		if !json.Valid([]byte(body)) {
			r.Fatalf("not JSON: %s", body)
		}
		for _, b := range []string{body, throughAztables(t, body)} {
			out, m, unknown, err := decode[everything](t, b)
			if err != nil || !unknown.IsZero() {
				r.Fatalf("%s: %v %q", b, err, unknown.raw)
			}
			if m.PartitionKey != e.PartitionKey || m.RowKey != e.RowKey || m.Stamp != e.Stamp {
				r.Fatalf("%+v of %+v", m, e)
			}
			assert.DeepEqual(assert.Now(r), in, out, "in", "out", b)
		}
		// Through a map, whose types come from annotations only.
		properties, _, _, err := decode[map[string]any](t, body)
		assert.NoError(r, err)
		again := assert.Must(appendRow(t, &properties, e))(r)
		if same, err := EqualContent([]byte(body), []byte(again)); err != nil || !same {
			r.Fatalf("%v\n%s\n%s", err, body, again)
		}
		// Through unknown properties.
		var none struct{}
		var unknown Unknown
		assert.NoError(r, codecOf[struct{}](t).DecodeEntity([]byte(body), &none, nil, &unknown))
		e.Unknown = &unknown
		again = assert.Must(appendRow(t, &none, e))(r)
		if same, err := EqualContent([]byte(body), []byte(again)); err != nil || !same {
			r.Fatalf("%v\n%s\n%s", err, body, again)
		}
	})
}
