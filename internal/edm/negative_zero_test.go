package edm

import (
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
		codec, err := CodecFor(reflect.TypeFor[shape]())
		if err != nil {
			t.Fatal(err)
		}
		row, err := codec.Append(nil, &c.v, Envelope{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Float", "Small", "Struct", "Array"} {
			if stored := strings.Contains(string(row), `"`+name+`":`); stored != c.stored {
				t.Errorf("%s stored: %v, want %v: %s", name, stored, c.stored, row)
			}
		}
	}
}
