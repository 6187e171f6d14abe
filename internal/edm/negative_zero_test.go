package edm

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestOmitemptyKeepsTheSignOfZero(t *testing.T) {
	type shape struct {
		Float  float64             `table:",omitempty"`
		Small  float32             `table:",omitzero"`
		Struct struct{ X float64 } `table:",json,omitempty"`
		Array  [1]float64          `table:",json,omitempty"`
	}
	negative := math.Copysign(0, -1)
	v := shape{Float: negative, Small: float32(negative), Array: [1]float64{negative}}
	v.Struct.X = negative
	for _, c := range []struct {
		v      shape
		stored bool
	}{{v, true}, {shape{}, false}} {
		codec := assert.Must(CodecFor(reflect.TypeFor[shape]()))(t)
		row := assert.Must(codec.Append(nil, &c.v, Envelope{}))(t)
		for _, name := range []string{"Float", "Small", "Struct", "Array"} {
			if stored := strings.Contains(string(row), `"`+name+`":`); stored != c.stored {
				t.Errorf("%s stored: %v, want %v: %s", name, stored, c.stored, row)
			}
		}
	}
}
