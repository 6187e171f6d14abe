package view

import (
	"context"
	"errors"
	"testing"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/txn"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/patterns/types"
)

var (
	ann = keys.Key{Partition: "Sales", Row: "ann"}
	bob = keys.Key{Partition: "Sales", Row: "bob"}
)

// claims is a table on which claims are carried out.
type claims struct {
	*testing.T
	*RemoteTable
	account *storagetest.Account
}

func newClaims(t *testing.T) *claims {
	t.Helper()
	account := storagetest.New(t)
	client := account.Tables().NewClient("derived")
	if _, err := client.CreateTable(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	account.ResetLog()
	return &claims{t, NewTable("derived", wire.NewClient(client)), account}
}

// reconcile carries out c, which must take the given number of requests.
func (t *claims) reconcile(c Claim, requests int) {
	t.Helper()
	t.account.ResetLog()
	if err := reconcile(t.Context(), t.RemoteTable, c); err != nil {
		t.Fatal(err)
	}
	if n := len(t.account.Log()); n != requests {
		t.Errorf("%d requests, want %d", n, requests)
	}
}

func (t *claims) read(key keys.Key) (txn.Row, edm.Properties) {
	t.Helper()
	row, err := txn.ReadRow(t.Context(), t.Client, key)
	if err != nil {
		t.Fatal(err)
	}
	content, err := row.Content()
	if err != nil {
		t.Fatal(err)
	}
	return row, content.Properties
}

func TestACopyOfAnotherPrimaryIsOverwrittenOnlyIfItMayBeTakenOver(t *testing.T) {
	table := newClaims(t)
	copyOf := func(primary keys.Key, wanted bool) Claim {
		c := Claim{View: &View{Name: "byBadge", Shape: types.Shape{Kind: types.Copies}}, Key: keys.Key{Partition: "badge", Row: "B7"}, Owner: primary, Wanted: wanted}
		if wanted {
			row := edm.Content{Properties: OwnerProperties(primary, c.View.Name)}
			w, err := txn.OverWith(c.Key, txn.Row{}, row)
			if err != nil {
				t.Fatal(err)
			}
			c.Body = w.Body
		}
		return c
	}
	table.reconcile(copyOf(ann, true), 2)
	table.reconcile(copyOf(ann, true), 1)
	table.reconcile(copyOf(bob, false), 1) // not Bob's to delete

	c := copyOf(bob, true)
	var duplicate *types.DuplicateError
	if err := reconcile(t.Context(), table.RemoteTable, c); !errors.As(err, &duplicate) || !errors.Is(err, azerr.ErrExists) || duplicate.Key != c.Key {
		t.Error(err)
	}
	for _, may := range []bool{false, true} {
		c.MayOverwrite = func(_ context.Context, other *OwnedByOther) (bool, error) {
			if !other.Known || other.Owner != ann || other.View != "byBadge" || other.At.IsZero() {
				t.Errorf("%+v", other)
			}
			return may, nil
		}
		if err := reconcile(t.Context(), table.RemoteTable, c); errors.Is(err, azerr.ErrExists) == may {
			t.Errorf("may take over %v: %v", may, err)
		}
	}
	table.reconcile(copyOf(ann, false), 1)
	if _, p := table.read(c.Key); p[PropOwnerRK] != "bob" {
		t.Error(p)
	}
	table.reconcile(copyOf(bob, false), 2)
	if row, _ := table.read(c.Key); !row.Absent() {
		t.Error("the row was not deleted")
	}
}

func TestAListIsDeletedWithItsLastMember(t *testing.T) {
	table := newClaims(t)
	c := Claim{View: &View{Name: "byLast", Shape: types.Shape{Kind: types.Members, List: oneMember{}}}, Key: keys.Key{Partition: "last", Row: "Jones"}, Owner: ann, Wanted: true}
	table.reconcile(c, 2)
	if _, p := table.read(c.Key); p["Who"] != "ann" || p[PropView] != "byLast" {
		t.Error(p)
	}
	other := c
	other.View = &View{Name: "byFirst", Shape: c.View.Shape}
	if err := reconcile(t.Context(), table.RemoteTable, other); !errors.Is(err, azerr.ErrExists) {
		t.Errorf("a list of another view: %v", err)
	}
	c.Wanted = false
	table.reconcile(c, 2)
	if row, _ := table.read(c.Key); !row.Absent() {
		t.Error("the row was not deleted")
	}
}

func TestADeletedCounterIsComputedFromTheMarks(t *testing.T) {
	table := newClaims(t)
	company := keys.Key{Partition: "company", Row: "all"}
	count := func(owner keys.Key, part int64) Claim {
		return Claim{View: &View{Name: "company", Shape: types.Shape{Kind: types.Merges}}, Key: company, Owner: owner, Wanted: part > 0,
			Merge: types.MergeSpec{Add: map[string]any{"Count": part}}}
	}
	gone := func(owner keys.Key) Claim {
		return Claim{View: &View{Name: "company", Shape: types.Shape{Kind: types.Merges}}, Key: company, Owner: owner}
	}
	check := func(want any) {
		t.Helper()
		if _, p := table.read(company); p["Count"] != want {
			t.Errorf("counted %v, want %v", p["Count"], want)
		}
	}
	table.reconcile(count(ann, 1), 6) // row, mark, sum row, row, all marks, transaction
	table.reconcile(count(bob, 2), 3)
	table.reconcile(count(bob, 2), 2)
	check(int64(3))
	table.reconcile(count(bob, 5), 3)
	check(int64(6))

	row, _ := table.read(company)
	if _, err := table.Client.Write(t.Context(), txn.Delete(company, row.ETag)); err != nil {
		t.Fatal(err)
	}
	table.reconcile(count(ann, 2), 6) // the row twice, because there is a mark
	check(int64(7))
	bobGone := gone(bob)
	table.reconcile(bobGone, 3)
	check(int64(2))
	if row, _ := table.read(bobGone.MarkKey()); !row.Absent() {
		t.Error("the mark was not deleted")
	}
}

func TestPropertiesThatTwoPrimariesSetBelongToTheFirst(t *testing.T) {
	table := newClaims(t)
	set := func(owner keys.Key, wanted bool) Claim {
		c := Claim{View: &View{Name: "boss", Shape: types.Shape{Kind: types.Merges}}, Key: keys.Key{Partition: "company", Row: "all"}, Owner: owner, Wanted: wanted}
		if wanted {
			c.Merge.Set = map[string]any{"Boss": owner.Row}
		}
		return c
	}
	table.reconcile(set(ann, true), 3)
	table.reconcile(set(bob, false), 2)
	if err := reconcile(t.Context(), table.RemoteTable, set(bob, true)); !errors.Is(err, azerr.ErrExists) {
		t.Error(err)
	}
	if _, p := table.read(set(ann, true).Key); p["Boss"] != "ann" {
		t.Error(p)
	}
	c := set(bob, true)
	c.MayOverwrite = func(context.Context, *OwnedByOther) (bool, error) { return true, nil }
	table.reconcile(c, 3)
	if _, p := table.read(c.Key); p["Boss"] != "bob" {
		t.Error(p)
	}
}

func TestAConflictIsRaced(t *testing.T) {
	table := newClaims(t)
	c := &Claim{View: &View{Name: "byLast", Shape: types.Shape{Kind: types.Members, List: oneMember{}}}, Key: keys.Key{Partition: "last", Row: "Jones"}, Owner: ann, Wanted: true}
	table.reconcile(*c, 2)
	sent, err := table.Write(t.Context(), c, Found{}) // the row was missing, and no longer is
	if !sent || !errors.Is(err, ErrRaced) || !errors.Is(err, azerr.ErrConflict) {
		t.Errorf("%v, %v", sent, err)
	}
}

// reconcile carries out a claim as a drain does, again after a conflict.
func reconcile(ctx context.Context, table *RemoteTable, c Claim) error {
	for {
		found, err := table.Read(ctx, &c)
		if err == nil {
			_, err = table.Write(ctx, &c, found)
		}
		if !errors.Is(err, ErrRaced) {
			return err
		}
	}
}
