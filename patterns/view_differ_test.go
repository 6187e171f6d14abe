package patterns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/keys"
)

// implies makes derived rows from texts such as "view partition/row=content".
func implies(lenses map[string]*lens, texts string) []derived {
	var all []derived
	for text := range strings.FieldsSeq(texts) {
		place, body, _ := strings.Cut(text, "=")
		view, at, _ := strings.Cut(place, ":")
		pk, rk, _ := strings.Cut(at, "/")
		all = append(all, derived{lens: lenses[view], row: DerivedRow{key: keys.Key{Partition: pk, Row: rk}, kind: lenses[view].shape.Kind}, body: []byte(body)})
	}
	return all
}

func (d *difference) text() string {
	s := d.lens.name + ":" + d.key.Partition + "/" + d.key.Row
	body := func(r *derived) string {
		if r == nil {
			return "-"
		}
		return string(r.body)
	}
	return fmt.Sprintf("%s %s>%s", s, body(d.old), body(d.new))
}

func TestTheDifferenceOfTwoVersions(t *testing.T) {
	lenses := map[string]*lens{"a": {name: "a"}, "b": {name: "b"}, "far": {name: "far", target: &tableTarget{id: "other"}}}
	primary := keys.Key{Partition: "p", Row: "1"}
	for name, c := range map[string]struct {
		old, new      string
		local, remote string
	}{
		"insert":                     {"", "a:p/x=1 a:q/x=1 far:p/x=1", "a:p/x ->1", "a:q/x ->1, far:p/x ->1"},
		"delete":                     {"a:p/x=1 a:q/x=1", "", "a:p/x 1>-", "a:q/x 1>-"},
		"same key":                   {"a:p/x=1 a:q/x=1", "a:p/x=2 a:q/x=2", "a:p/x 1>2", "a:q/x 1>2"},
		"other key":                  {"a:p/x=1", "a:p/y=1", "a:p/x 1>-, a:p/y ->1", ""},
		"nothing":                    {"a:p/x=1 a:q/x=1", "a:p/x=1 a:q/x=1", "a:p/x 1>1", ""},
		"from one view to another":   {"a:p/x=1", "b:p/x=1", "b:p/x 1>1", ""},
		"two views swap":             {"a:p/x=1 b:p/y=1", "a:p/y=2 b:p/x=2", "b:p/x 1>2, a:p/y 1>2", ""},
		"the same key in two tables": {"a:q/x=1", "far:q/x=1", "", "a:q/x 1>-, far:q/x ->1"},
	} {
		local, remote := differ(primary, implies(lenses, c.old), implies(lenses, c.new), func(string) bool { return true }, false)
		join := func(ds []difference) string {
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

func TestARowThatDoesNotChangeIsWrittenOnlyWhereItMayBeMissing(t *testing.T) {
	lenses := map[string]*lens{"a": {name: "a"}}
	primary := keys.Key{Partition: "p", Row: "1"}
	for _, c := range []struct {
		kept, mend bool
		rows       int
		remote     int
	}{{true, false, 0, 0}, {false, false, 1, 1}, {true, true, 1, 1}} {
		rows := implies(lenses, "a:p/x=1 a:q/x=1")
		local, remote := differ(primary, rows, rows, func(string) bool { return c.kept }, c.mend)
		if n := len(localRows(local)); n != c.rows || len(remote) != c.remote {
			t.Errorf("kept %v, mend %v: %d local, %d remote", c.kept, c.mend, n, len(remote))
		}
	}
}
