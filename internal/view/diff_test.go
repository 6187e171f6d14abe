package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// implied makes derived rows from texts such as "view:partition/row=content".
func implied(views map[string]*View, texts string) []Derived {
	var all []Derived
	for text := range strings.FieldsSeq(texts) {
		address, body, _ := strings.Cut(text, "=")
		view, at, _ := strings.Cut(address, ":")
		pk, rk, _ := strings.Cut(at, "/")
		v := views[view]
		all = append(all, Derived{View: v, DerivedRow: types.DerivedRow{Key: keys.Key{Partition: pk, Row: rk}, Kind: v.Shape.Kind}, Body: []byte(body)})
	}
	return all
}

func (d *Diff) text() string {
	body := func(r *Derived) string {
		if r == nil {
			return "-"
		}
		return string(r.Body)
	}
	return fmt.Sprintf("%s:%s/%s %s>%s", d.View.Name, d.Key.Partition, d.Key.Row, body(d.Old), body(d.New))
}

func TestDifferencesOfTwoVersions(t *testing.T) {
	views := map[string]*View{"a": {Name: "a"}, "b": {Name: "b"}, "far": {Name: "far", Shape: types.Shape{Target: NewTable("other", nil)}}}
	primary := keys.Key{Partition: "p", Row: "1"}
	for name, c := range map[string]struct {
		old, new      string
		local, remote string
	}{
		"insert":                     {"", "a:p/x=1 a:q/x=1 far:p/x=1", "a:p/x ->1", "a:q/x ->1, far:p/x ->1"},
		"delete":                     {"a:p/x=1 a:q/x=1", "", "a:p/x 1>-", "a:q/x 1>-"},
		"same key":                   {"a:p/x=1 a:q/x=1", "a:p/x=2 a:q/x=2", "a:p/x 1>2", "a:q/x 1>2"},
		"other key":                  {"a:p/x=1", "a:p/y=1", "a:p/x 1>-, a:p/y ->1", ""},
		"no change":                  {"a:p/x=1 a:q/x=1", "a:p/x=1 a:q/x=1", "a:p/x 1>1", ""},
		"from one view to another":   {"a:p/x=1", "b:p/x=1", "b:p/x 1>1", ""},
		"two views swap":             {"a:p/x=1 b:p/y=1", "a:p/y=2 b:p/x=2", "b:p/x 1>2, a:p/y 1>2", ""},
		"the same key in two tables": {"a:q/x=1", "far:q/x=1", "", "a:q/x 1>-, far:q/x ->1"},
	} {
		local, remote := Differences(primary, implied(views, c.old), implied(views, c.new), func(string) bool { return true }, false)
		join := func(ds []Diff) string {
			var texts []string
			for i := range ds {
				texts = append(texts, ds[i].text())
			}
			return strings.Join(texts, ", ")
		}
		if got := join(local); got != c.local {
			t.Errorf("%s: local %q, want %q", name, got, c.local)
		}
		if got := join(remote); got != c.remote {
			t.Errorf("%s: remote %q, want %q", name, got, c.remote)
		}
	}
}

func TestAnUnchangedRowIsWrittenOnlyIfItMayBeMissing(t *testing.T) {
	views := map[string]*View{"a": {Name: "a"}}
	primary := keys.Key{Partition: "p", Row: "1"}
	for _, c := range []struct {
		tracked, repair bool
		local, remote   int
	}{{true, false, 0, 0}, {false, false, 1, 1}, {true, true, 1, 1}} {
		rows := implied(views, "a:p/x=1 a:q/x=1")
		local, remote := Differences(primary, rows, rows, func(string) bool { return c.tracked }, c.repair)
		if changed, err := LocalRows(local); err != nil || len(changed) != c.local || len(remote) != c.remote {
			t.Errorf("tracked %v, repair %v: %d local, %d remote, %v", c.tracked, c.repair, len(changed), len(remote), err)
		}
	}
}
