package view

import (
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

var emailRow = keys.Key{Partition: "Sales", Row: "email_a"}

const (
	marked   = `,"azp_pk":"Sales","azp_rk":"ann","azp_view":"email"`
	keyOfRow = `"PartitionKey":"Sales","RowKey":"email_a"`
)

// at is a member of the type Edm.DateTime.
func at(name, text string) string {
	return `,"` + name + `@odata.type":"Edm.DateTime","` + name + `":"` + text + `"`
}

// TestACopyKeepsTheSpellingOfWhatStays changes one property of a copy, of which the primary spells some others differently.
func TestACopyKeepsTheSpellingOfWhatStays(t *testing.T) {
	const short, long, other, otherLong = "2026-03-01T00:00:43.44Z", "2026-03-01T00:00:43.440Z", "2026-03-02T00:00:00Z", "2026-03-02T00:00:00.000Z"
	stored := at("A", long) + at("B", short) + at("C", long) + `,"Group":"Jones"`
	old := at("A", short) + at("B", long) + at("C", short) + `,"Group":"Jones"`
	now := at("A", short) + at("B", long) + at("C", otherLong) + `,"Group":"Kwok"` + at("D", otherLong)
	want := at("A", long) + at("B", short) + at("C", otherLong) + `,"Group":"Kwok"` + at("D", otherLong)
	row := func(members string) []byte { return []byte(`{` + keyOfRow + members + `}`) }
	v := &View{Name: "email", Shape: types.Shape{Kind: types.Copies}}
	for name, found := range map[string][]byte{"marked": row(stored + marked), "adopted": row(stored), "as the service sends it": row(`,"odata.metadata":"x"` + stored)} {
		c := CopyClaim{View: v, Key: emailRow, Primary: ann, Body: row(now + marked), Old: row(old + marked)}
		w, needed, err := c.write(txn.Row{ETag: "1", Body: found})
		if err != nil || !needed {
			t.Fatalf("%s: %v, needed %t", name, err, needed)
		}
		checkMembers(t, name, w.Body, want+marked)
	}
	// A row that may be overwritten, and that is not the copy, gets the spelling of the primary.
	v = &View{Name: "email", Shape: types.Shape{Kind: types.Copies, Adopt: types.AdoptOverwrite}}
	c := CopyClaim{View: v, Key: emailRow, Primary: ann, Body: row(now + marked)}
	w, _, err := c.write(txn.Row{ETag: "1", Body: row(at("A", long) + `,"Other":1`)})
	if err != nil {
		t.Fatal(err)
	}
	checkMembers(t, "overwritten", w.Body, now+marked)
	// The marker alone is added.
	v = &View{Name: "email", Shape: types.Shape{Kind: types.Copies}}
	c = CopyClaim{View: v, Key: emailRow, Primary: ann, Body: row(old)}
	if w, _, err = c.Adoption(txn.Row{ETag: "1", Body: row(stored)}); err != nil {
		t.Fatal(err)
	}
	checkMembers(t, "Adoption", w.Body, stored+marked)
	c.Op = "1"
	if w, _, err = c.Reservation(txn.Row{ETag: "1", Body: row(stored + marked)}); err != nil {
		t.Fatal(err)
	}
	checkMembers(t, "Reservation", w.Body, stored+marked+`,"azp_op":"1"`)
}

// checkMembers fails unless a row has the members and no others.
func checkMembers(t *testing.T, name string, body []byte, members string) {
	t.Helper()
	size := len(`{` + keyOfRow + members + `}`)
	for _, member := range strings.Split(members[1:], `,"`) {
		if !strings.Contains(string(body), member) {
			t.Errorf("%s: %s is missing in %s", name, member, body)
		}
	}
	if len(body) != size {
		t.Errorf("%s: %s, want %d bytes, with %s", name, body, size, members)
	}
}
