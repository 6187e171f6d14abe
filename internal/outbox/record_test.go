package outbox

import (
	"reflect"
	"testing"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/patterns/types"
)

// A change here is a change of what older versions of the library find in the tables:
// keep reading the old form, and raise outboxFormat.
func TestStoredFormOfOutboxRows(t *testing.T) {
	refs := []types.RowRef{{View: "byBadge", Partition: "badge", Row: "B7"}}
	pending, err := pendingRow("000223", refs, "byBadge:12345678")
	if err != nil {
		t.Fatal(err)
	}
	done := *pending
	done.State, done.Worker = stateDone, "W"
	codec, err := edm.CodecFor(reflect.TypeFor[outboxRow]())
	if err != nil {
		t.Fatal(err)
	}
	key := recordKey("Sales", "ID")
	e := edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row}
	for _, c := range []struct {
		row  *outboxRow
		want string
	}{
		{pending, `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"pending","azp_rk":"000223","azp_rows":"[{\"v\":\"byBadge\",\"p\":\"badge\",\"r\":\"B7\"}]","azp_views":"byBadge:12345678"}`},
		{&done, `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"done","azp_rk":"000223","azp_rows":"[{\"v\":\"byBadge\",\"p\":\"badge\",\"r\":\"B7\"}]","azp_worker":"W","azp_views":"byBadge:12345678"}`},
		{fenceRow(), `{"PartitionKey":"Sales","RowKey":"~azp_outbox_ID","azp_outbox":1,"azp_state":"fence","azp_rk":"","azp_rows":"[]"}`},
	} {
		got, err := codec.Append(nil, c.row, e)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.row.State, got, err, c.want)
		}
	}
	if got, err := pending.refs(); err != nil || !reflect.DeepEqual(got, refs) {
		t.Errorf("read back %v, %v", got, err)
	}
	pending.Format++
	if _, err := pending.refs(); err == nil {
		t.Error("a row of a later format was read")
	}
}
