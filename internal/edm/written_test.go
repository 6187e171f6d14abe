package edm

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"strings"
	"testing"
	"time"
)

// TestWhatWasWrittenIsDescribedAsIfItWereRead writes a row after a change. What After returns has the
// same effect on the next write as what a read of the row returns.
func TestWhatWasWrittenIsDescribedAsIfItWereRead(t *testing.T) {
	c := codecOf[keptFields](t)
	changes := []func(*keptFields){
		func(v *keptFields) {},
		func(v *keptFields) {
			v.J.City, v.JS, v.T = "Basel", nil, time.Date(2027, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
		},
		func(v *keptFields) { v.JS, v.F, v.S, v.BO = []keptChild{{City: "Bern"}, {City: "Ulm"}}, 2.5, "", true },
		func(v *keptFields) { v.J, v.JP, v.T, v.I, v.G = keptChild{}, nil, time.Time{}, 0, [16]byte{} },
		func(v *keptFields) { v.JP, v.JM, v.I, v.SO, v.I32 = &keptChild{City: "Bern"}, nil, 9, "x", 1 },
	}
	for _, members := range keptMembers {
		for i, first := range changes {
			for j, second := range changes {
				v, _, unknown, err := decode[keptFields](t, `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r",`+members+`,"More":"x"}`)
				assert.NoError(t, err)
				first(&v)
				body, err := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &unknown})
				if err != nil {
					continue
				}
				after, _ := c.After(&v, &unknown, []byte(body), false)
				v, _, read, err := decode[keptFields](t, `{"odata.metadata":"x",`+strings.TrimPrefix(body, "{"))
				assert.NoError(t, err, body)
				second(&v)
				got, err1 := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &after})
				want, err2 := appendRow(t, &v, Envelope{PartitionKey: "p", RowKey: "r", Unknown: &read})
				if same, err := EqualContent([]byte(want), []byte(got)); err1 == nil && err2 == nil && (err != nil || !same || memberOf(got, "J") != memberOf(want, "J") || memberOf(got, "JS") != memberOf(want, "JS")) {
					t.Errorf("%s, changes %d and %d:\n got %s\nwant %s", members, i, j, got, want)
				}
			}
		}
	}
}
