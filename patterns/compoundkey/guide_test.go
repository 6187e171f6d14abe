package compoundkey_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/compoundkey"
)

// The structs of a program that uses aztables alone. The new program uses them too.
type (
	handEmployee struct {
		aztables.Entity
		FirstName, LastName string
		Age                 int32
		EmailAddress        string
	}
	handReview struct {
		aztables.Entity
		FirstName, LastName       string
		ManagerRating, PeerRating int32
		Comments                  string
	}
)

func handKey(row string) aztables.Entity { return aztables.Entity{PartitionKey: "Sales", RowKey: row} }

type handFamily = compoundkey.Family[handEmployee, handReview]

func newHandFamily(t testing.TB, client *aztables.Client) *handFamily {
	t.Helper()
	return assert.Must(compoundkey.New(client,
		func(e *handEmployee) compoundkey.ID {
			return compoundkey.ID{Partition: e.PartitionKey, Parent: e.RowKey}
		},
		func(r *handReview) (compoundkey.ID, string) {
			id, year, _ := strings.Cut(r.RowKey, "_")
			return compoundkey.ID{Partition: r.PartitionKey, Parent: id}, year
		}, &compoundkey.Options{BareParent: true}))(t)
}

func addByHand(t testing.TB, client *aztables.Client, rows ...any) {
	t.Helper()
	for _, v := range rows {
		assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), assert.Must(json.Marshal(v))(t), nil)))
	}
}

func readByHand[V any](t testing.TB, client *aztables.Client, row string) (v V) {
	t.Helper()
	resp, err := client.GetEntity(t.Context(), "Sales", row, nil)
	if err == nil {
		err = json.Unmarshal(resp.Value, &v)
	}
	assert.NoError(t, err)
	return v
}

// The rows of the guide: the parent at 000123, a review at 000123_2012. The neighbours have
// keys that are near in the order of the table.
func addFamilies(t testing.TB, client *aztables.Client) {
	for _, id := range []string{"00012", "000123", "0001230", "000123A", "000123a", "000124"} {
		addByHand(t, client,
			handEmployee{Entity: handKey(id), FirstName: "F" + id, Age: 30},
			handReview{Entity: handKey(id + "_2011"), ManagerRating: 3, Comments: "C" + id},
			handReview{Entity: handKey(id + "_2012"), ManagerRating: 4, Comments: "C" + id})
	}
}

func TestAFamilyWrittenByHandIsReadInOneRequestWithoutItsNeighbours(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addFamilies(t, client)
		f := newHandFamily(t, client)
		for _, id := range []string{"00012", "000123", "0001230", "000123A", "000123a", "000124"} {
			b.ResetRequests()
			m := assert.Must(f.Get(ctx, sales(id)))(t)
			b.WantRequestCount(t, 1)
			if m.Parent == nil || m.Parent.Value.FirstName != "F"+id || m.Parent.Value.RowKey != id {
				t.Errorf("%s: parent %+v", id, m.Parent)
			}
			if len(m.Children) != 2 || m.Children[0].Value.Comments != "C"+id || m.Children[1].Value.RowKey != id+"_2012" {
				t.Errorf("%s: children %+v", id, m.Children)
			}
		}
	})
}

func TestAFamilyWrittenByHandCanBeChangedAndReadByHand(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addFamilies(t, client)
		f := newHandFamily(t, client)
		_, _, err := f.Update(ctx, sales("000123"), "2012", func(e *handEmployee, r *handReview) error {
			e.Age, r.PeerRating = 31, 5
			return nil
		})
		assert.NoError(t, err)
		_, err = f.AddChild(ctx, &handReview{Entity: handKey("000123_2013"), ManagerRating: 2})
		assert.NoError(t, err)
		if _, err := f.AddChild(ctx, &handReview{Entity: handKey("000123_2011")}); !errors.Is(err, patterns.ErrExists) {
			t.Errorf("a review that was written by hand: %v", err)
		}
		if e := readByHand[handEmployee](t, client, "000123"); e.Age != 31 || e.FirstName != "F000123" {
			t.Errorf("parent: %+v", e)
		}
		if r := readByHand[handReview](t, client, "000123_2012"); r.PeerRating != 5 || r.ManagerRating != 4 {
			t.Errorf("changed child: %+v", r)
		}
		if r := readByHand[handReview](t, client, "000123_2013"); r.ManagerRating != 2 {
			t.Errorf("added child: %+v", r)
		}
		b.ResetRequests()
		assert.NoError(t, f.Delete(ctx, sales("000123")))
		b.WantRequestCount(t, 2)
		assert.WantError(t, assert.ErrorOf(f.Get(ctx, sales("000123"))), patterns.ErrNotFound, "deleted")
		for _, id := range []string{"00012", "0001230", "000123A", "000123a", "000124"} {
			if m, err := f.Get(ctx, sales(id)); err != nil || m.Parent == nil || len(m.Children) != 2 {
				t.Errorf("%s after the delete of a neighbour: %d children, %v", id, len(m.Children), err)
			}
		}
	})
}

// The IDs may also be fields that the rows do not contain.
func TestAFamilyWrittenByHandNeedNotContainItsIDs(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, ctx := b.Table(t), t.Context()
		addFamilies(t, client)
		f := assert.Must(compoundkey.New(client, employeeID, reviewID, &compoundkey.Options{BareParent: true}))(t)
		_, _, err := f.Update(ctx, sales("000123"), "2012", func(e *employee, r *review) error {
			e.FirstName, r.ManagerRating = "Ken", 5
			return nil
		})
		assert.NoError(t, err)
		e, r := readByHand[handEmployee](t, client, "000123"), readByHand[handReview](t, client, "000123_2012")
		if e.FirstName != "Ken" || e.Age != 30 || r.ManagerRating != 5 {
			t.Errorf("%+v %+v", e, r)
		}
	})
}
