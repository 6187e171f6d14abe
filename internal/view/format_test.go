package view

import (
	"encoding/json"
	"testing"

	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// A change here is a change of what older versions of the library find in the tables:
// keep reading the old form.
func TestStoredFormat(t *testing.T) {
	body := func(w wire.Write, _ bool, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return string(w.Body)
	}
	primary := keys.Key{Partition: "Sales", Row: "000223"}
	unique := CopyClaim{View: &View{Name: "byBadge"}, Key: keys.Key{Partition: "badge", Row: "B7"}, Primary: primary, Op: "ID"}
	merge := &Claim{View: &View{Name: "company", Shape: types.Shape{Kind: types.Merges}}, Key: keys.Key{Partition: "company", Row: "all"}, Owner: primary, Wanted: true,
		Merge: types.MergeSpec{Set: map[string]any{"Boss": "Ann"}, Add: map[string]any{"Count": int64(1)}}}
	writes, err := merge.writes(Found{}, nil)
	if err != nil || len(writes) != 3 {
		t.Fatal(writes, err)
	}
	list := &Claim{View: &View{Name: "byLast", Shape: types.Shape{Kind: types.Members, List: oneMember{}}}, Key: keys.Key{Partition: "Sales", Row: "last_Jones"}, Owner: primary, Wanted: true}
	ref, err := json.Marshal(types.RowRef{View: "byBadge", Partition: "badge", Row: "B7"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, got, want string }{
		{"reservation", body(unique.Reservation(txn.Row{})), `{"PartitionKey":"badge","RowKey":"B7","azp_op":"ID","azp_pk":"Sales","azp_rk":"000223","azp_state":"reserved","azp_view":"byBadge"}`},
		{"list", body(list.memberWrite(txn.Row{})), `{"PartitionKey":"Sales","RowKey":"last_Jones","Who":"000223","azp_view":"byLast"}`},
		{"merge", string(writes[0].Body), `{"PartitionKey":"company","RowKey":"all","Boss":"Ann","Count@odata.type":"Edm.Int64","Count":"1","azp_merged":"{\"company\":{\"p\":\"Sales\",\"r\":\"000223\",\"n\":[\"Boss\"]}}","azp_state":"part"}`},
		{"mark", string(writes[1].Body), `{"PartitionKey":"company","RowKey":"~azp_count_company_hg-7Zwx0ZILFEOhGsDMG_uKN8hXJKShlkkfpMWoxf","azp_parts":"{\"Count\":1}","azp_pk":"Sales","azp_rk":"000223","azp_row":"all","azp_view":"company"}`},
		{"sum row", string(writes[2].Body), `{"PartitionKey":"company","RowKey":"~azp_sum_company_hg-7Zwx0ZILFEOhGsDMG","azp_row":"all","azp_view":"company"}`},
		{"row reference", string(ref), `{"v":"byBadge","p":"badge","r":"B7"}`},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, c.got, c.want)
		}
	}
}

// oneMember is a list of at most one member.
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

// A part of zero does not change the counter. The transaction still has the condition that
// the row is unchanged.
func TestAMarkIsDeletedOnConditionThatItIsUnchanged(t *testing.T) {
	c := &Claim{View: &View{Name: "orders", Shape: types.Shape{Kind: types.Merges}}, Key: keys.Key{Partition: "company", Row: "all"}, Owner: keys.Key{Partition: "Sales", Row: "1"}}
	writes, err := c.writes(Found{
		Row:  txn.Row{ETag: "row", Body: []byte(`{"Orders":7}`)},
		Mark: txn.Row{ETag: "mark", Body: []byte(`{"azp_parts":"{\"Orders\":0}"}`)},
	}, nil)
	if err != nil || len(writes) != 2 || writes[0].ETag != "row" || writes[1].Kind != wire.Delete || writes[1].ETag != "mark" {
		t.Errorf("%+v, %v", writes, err)
	}
}
