package patterns

import (
	"reflect"
	"testing"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// The stored forms. A change here is a change of what older versions of the library
// find in the tables: keep reading the old form, and raise outboxFormat.
func TestStoredForms(t *testing.T) {
	places := []Place{{"byBadge", "badge", "B7"}}
	pending, err := pendingRow("000223", places)
	if err != nil {
		t.Fatal(err)
	}
	done := *pending
	done.State, done.Worker = stateDone, "W"
	codec, err := edm.CodecFor(reflect.TypeFor[outboxRow]())
	if err != nil {
		t.Fatal(err)
	}
	key := outboxKey("Sales", "ID")
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row}
	row := func(v *outboxRow) string {
		b, err := codec.Append(nil, v, e)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	body := func(w wire.Write, _ bool, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return string(w.Body)
	}
	primary := keys.Key{Partition: "Sales", Row: "000223"}
	claim := copyClaim{key: keys.Key{Partition: "badge", Row: "B7"}, primary: primary, view: "byBadge", op: "ID"}
	merge := &Claim{View: "company", Kind: Merges, Key: keys.Key{Partition: "company", Row: "all"}, Owner: primary, Wanted: true,
		merge: Merged{Set: map[string]any{"Boss": "Ann"}, Add: map[string]any{"Count": int64(1)}}}
	writes, err := merge.writes(reading{}, nil)
	if err != nil || len(writes) != 2 {
		t.Fatal(writes, err)
	}
	list := &lens{name: "byLast", shape: Shape{Kind: Members, List: oneMember{}}}
	for _, c := range []struct{ what, got, want string }{
		{"pending", row(pending), `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"pending","azp_rk":"000223","azp_rows":"[{\"v\":\"byBadge\",\"p\":\"badge\",\"r\":\"B7\"}]"}`},
		{"done", row(&done), `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"done","azp_rk":"000223","azp_rows":"[{\"v\":\"byBadge\",\"p\":\"badge\",\"r\":\"B7\"}]","azp_worker":"W"}`},
		{"fence", row(fenceRow()), `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"fence","azp_rk":"","azp_rows":"[]"}`},
		{"reservation", body(claim.reservation(standing{})), `{"PartitionKey":"badge","RowKey":"B7","azp_op":"ID","azp_pk":"Sales","azp_rk":"000223","azp_state":"reserved","azp_view":"byBadge"}`},
		{"list", body(list.memberWrite(keys.Key{Partition: "Sales", Row: "last_Jones"}, primary, true, standing{})), `{"PartitionKey":"Sales","RowKey":"last_Jones","Who":"000223","azp_view":"byLast"}`},
		{"merge", string(writes[0].Body), `{"PartitionKey":"company","RowKey":"all","Boss":"Ann","Count@odata.type":"Edm.Int64","Count":"1","azp_merged":"{\"company\":{\"p\":\"Sales\",\"r\":\"000223\",\"n\":[\"Boss\"]}}"}`},
		{"mark", string(writes[1].Body), `{"PartitionKey":"company","RowKey":"~azp_count_company_hg-7Zwx0ZILFEOhGsDMG_uKN8hXJKShlkkfpMWoxf","azp_parts":"{\"Count\":1}","azp_pk":"Sales","azp_rk":"000223","azp_row":"all","azp_view":"company"}`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, c.got, c.want)
		}
	}
	if got, err := pending.places(); err != nil || !reflect.DeepEqual(got, places) {
		t.Errorf("read back %v, %v", got, err)
	}
	pending.Format++
	if _, err := pending.places(); err == nil {
		t.Error("a row of a later format was read")
	}
}

// oneMember is a list for one.
type oneMember struct{}

func (oneMember) Add(row map[string]any, m keys.Key) (bool, error) {
	row["Who"] = m.Row
	return true, nil
}
func (oneMember) Remove(row map[string]any, m keys.Key) (bool, error) {
	delete(row, "Who")
	return true, nil
}
func (oneMember) Len(row map[string]any) (int, error) { return len(row), nil }

// TestAMarkIsDeletedAsItWasRead is about a part of nothing, which leaves the counter,
// and so the condition on its row, out of the transaction.
func TestAMarkIsDeletedAsItWasRead(t *testing.T) {
	c := &Claim{View: "orders", Kind: Merges, Key: keys.Key{Partition: "company", Row: "all"}, Owner: keys.Key{Partition: "Sales", Row: "1"}}
	writes, err := c.writes(reading{
		row:  standing{"row", []byte(`{"Orders":7}`)},
		mark: standing{"mark", []byte(`{"azp_parts":"{\"Orders\":0}"}`)},
	}, nil)
	if err != nil || len(writes) != 1 || writes[0].Kind != wire.Delete || writes[0].ETag != "mark" {
		t.Errorf("%+v, %v", writes, err)
	}
}
