package heat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/heat"
)

func TestASavedSnapshotIsLoadedWithTheSameFindings(t *testing.T) {
	s := month(t)
	var b bytes.Buffer
	assert.NoError(t, s.Save(&b))
	saved := b.String()
	loaded := assert.Must(heat.Load(&b, nil))(t)
	assert.DeepEqual(t, loaded.Findings(), s.Findings())
	assert.DeepEqual(t, loaded.Ranges, s.Ranges)
	var again bytes.Buffer
	assert.NoError(t, loaded.Save(&again))
	assert.Equal(t, again.String(), saved)
}

// The text of version 1, as it must stay readable.
const version1 = `{"version":1,"since":"2026-01-01T00:00:00Z","taken":"2026-01-01T01:00:00Z","resources":{"tOrders":{"transactions":2,"written":2}},
"ranges":[{"from":"","steps":[null,null,null]},{"from":"tOrders","steps":[[[29454239,0,2,2,100,3,0,0]],[[2945423,0,2,2,100,3,0,0]],[[490904,0,2,2,100,3,0,0]]]}],
"partitions":[{"key":"tOrders\u0000a","entities":2,"written":2,"peak":2,"peakAt":29454239}],"rows":null}`

func TestSnapshotsOfVersionOneAreRead(t *testing.T) {
	s := assert.Must(heat.Load(strings.NewReader(version1), nil))(t)
	if total(s, 0, entitiesWritten) != 2 || s.Partitions[0].Peak != 2 || s.Resources["tOrders"].Written != 2 {
		t.Errorf("%+v", s)
	}
}

func TestOtherDataIsRefusedWithoutQuotingIt(t *testing.T) {
	for _, text := range []string{"", "{}", "null", `{"version":"secret"}`, strings.Replace(version1, `"version":1`, `"version":2`, 1),
		strings.Replace(version1, `"from":""`, `"from":"z"`, 1), strings.Replace(version1, "2026-01-01T01", "1926-01-01T01", 1)} {
		_, err := heat.Load(strings.NewReader(text), nil)
		if !errors.Is(err, heat.ErrSnapshot) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}

func TestHostileSnapshotsAreMergedAndShown(t *testing.T) {
	for _, step := range []string{"[-5,1,1,1,1,1,1,1]", "[1e300,1,1,1,1,1,1,1]", "[29454239]", "[29454239,-1,-1,-1,-1,-1,-1,-1,9,9]", "[0.5,1]"} {
		s, err := heat.Load(strings.NewReader(strings.Replace(version1, "[29454239,0,2,2,100,3,0,0]", step, 1)), nil)
		if err != nil {
			continue
		}
		if _, page := get(heat.Merge(s, nil, s).Handler(), ""); !strings.Contains(page, "Orders") {
			t.Errorf("%s: %s", step, page)
		}
	}
}

func TestMergedSnapshotsAddUp(t *testing.T) {
	s := month(t)
	other := newMeter(t, nil)
	for i := range 5000 {
		heat.Record(other, "Orders", "customer_31415", string(rune('a'+i%26)), s.Taken.Add(-time.Duration(i)*time.Second/10))
		heat.Record(other, "Another", "p", "r", s.Taken.Add(-time.Hour))
	}
	o := heat.SnapshotAt(other, s.Taken)
	sum := heat.Merge(s, nil, o)
	for resolution := range 3 {
		for figure := range 7 {
			want := total(s, resolution, figure) + total(o, resolution, figure)
			if got := total(sum, resolution, figure); math.Abs(got-want) > 1e-4*want {
				t.Errorf("figure %d of resolution %d is %v, want %v", figure, resolution, got, want)
			}
		}
	}
	if len(sum.Ranges) > 128 || sum.Resources["tAnother"].Written != 5000 {
		t.Errorf("%d ranges, %v", len(sum.Ranges), sum.Resources["tAnother"])
	}
	if s.Partitions[0].Key == sum.Partitions[0].Key && sum.Partitions[0].Entities <= s.Partitions[0].Entities {
		t.Error("the hot partition was not added")
	}
	if empty := heat.Merge(); len(empty.Findings()) != 0 {
		t.Errorf("%+v", empty)
	}
	assert.Equal(t, assert.ErrorOf(json.Marshal(sum)), nil)
}

func TestTheDefaultLabelHidesTextFromTheFirstDigit(t *testing.T) {
	for key, prefix := range map[string]string{"Sales_000123": "Sales_#", "2014073118": "#", "Sales": "Sales", "": ""} {
		label := heat.Label(key)
		if !strings.HasPrefix(label, prefix) || strings.ContainsAny(key, "0123456789") && strings.Contains(label, key[len(prefix)-1:]) {
			t.Errorf("%q is shown as %q", key, label)
		}
	}
	if first, again := heat.Label("a1"), heat.Label("a1"); first != again || first == heat.Label("a2") {
		t.Error("labels do not distinguish keys")
	}
}

func TestTheLabelOfTheOptionsIsUsed(t *testing.T) {
	m := newMeter(t, &heat.Options{Label: func(string) string { return "hidden" }})
	heat.Record(m, "Orders", "alice", "x", time.Now())
	if _, page := get(m.Handler(), ""); !strings.Contains(page, "hidden") || strings.Contains(page, "alice") || !strings.Contains(page, "chosen by the program") {
		t.Error(page)
	}
}
