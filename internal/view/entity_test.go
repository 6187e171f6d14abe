package view

import (
	"errors"
	"reflect"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

func TestCopiesAreEqualIfTheListedPropertiesAre(t *testing.T) {
	type closed struct {
		PartitionKey, RowKey, Name string
		Age                        int32
	}
	type open = map[string]any
	key := keys.Key{Partition: "p", Row: "r"}
	for name, c := range map[string]struct {
		a, b      any
		only      []string
		wantEqual bool
	}{
		"all, equal":                 {&closed{Name: "Ann", Age: 3}, &closed{Name: "Ann", Age: 3}, nil, true},
		"all, different":             {&closed{Name: "Ann", Age: 3}, &closed{Name: "Ann", Age: 4}, nil, false},
		"the keys do not count":      {&closed{RowKey: "1", Name: "Ann"}, &closed{RowKey: "2", Name: "Ann"}, nil, true},
		"a listed one differs":       {&closed{Name: "Ann"}, &closed{Name: "Bob"}, []string{"Name"}, false},
		"an unlisted one differs":    {&closed{Name: "Ann", Age: 3}, &closed{Name: "Ann", Age: 4}, []string{"Name"}, true},
		"a map, a listed one":        {&open{"Name": "Ann"}, &open{"Name": "Bob"}, []string{"Name"}, false},
		"a map, an unlisted one":     {&open{"Name": "Ann", "Age": 3}, &open{"Name": "Ann"}, []string{"Name"}, true},
		"a map without a listed one": {&open{"Name": "Ann"}, &open{}, []string{"Name"}, false},
	} {
		typ := assert.Must(EntityTypeOf(reflect.TypeOf(c.a).Elem()))(t)
		if equal, err := typ.EqualCopies(c.a, c.b, key, c.only); equal != c.wantEqual || err != nil {
			t.Errorf("%s: %v, %v", name, equal, err)
		}
	}
}

func TestPropertyNamesThatNoRowCanHaveAreRefused(t *testing.T) {
	assert.Equal(t, CheckPropertyName("EmployeeCount"), nil)
	for _, name := range []string{"", "two words", "azp_count", "1st", "PartitionKey", "RowKey", "Timestamp", "odata.etag", "N@odata.type"} {
		var p *types.PropertyError
		if err := CheckPropertyName(name); !errors.As(err, &p) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
