package patterns_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/reindex"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

// note is an entity with tags that can be changed in place. L is the type of the list.
type note[L any] struct {
	PartitionKey, RowKey string
	Tags                 L `table:",json"`
	Text                 []byte
}

func noteKey(row string) keys.Key { return keys.Key{Partition: "p", Row: row} }

// A list is a type of lists of tags. at returns the place of a tag.
type list[L any] struct {
	of func(tags ...string) L
	at func(L, int) *string
}

// opaque is a list whose memory nothing but its methods can reach.
type opaque struct{ tags *[]string }

func (o opaque) MarshalJSON() ([]byte, error) { return json.Marshal(o.tags) }

func (o *opaque) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &o.tags) }

var (
	tagSlice = list[[]string]{
		func(tags ...string) []string { return slices.Clone(tags) },
		func(l []string, i int) *string { return &l[i] },
	}
	tagOpaque = list[opaque]{
		func(tags ...string) opaque { tags = slices.Clone(tags); return opaque{&tags} },
		func(o opaque, i int) *string { return &(*o.tags)[i] },
	}
)

// inPlace runs a test with lists of a type that can be copied, and of one that cannot. Its last
// argument is how many requests are necessary to read an entity again for another run of a function.
func inPlace(t *testing.T, slice func(*testing.T, *harness.Backend, list[[]string], int), hidden func(*testing.T, *harness.Backend, list[opaque], int)) {
	t.Run("slice", func(t *testing.T) {
		harness.Run(t, func(t *testing.T, b *harness.Backend) { slice(t, b, tagSlice, 0) })
	})
	t.Run("opaque", func(t *testing.T) {
		harness.Run(t, func(t *testing.T, b *harness.Backend) { hidden(t, b, tagOpaque, 1) })
	})
}

// notes is a Store of notes with an index of their first tags.
func notes[L any](t *testing.T, client *aztables.Client, l list[L]) *patterns.Store[note[L]] {
	byTag := secondaryindex.Intra("tag", func(n *note[L]) (string, bool) { return *l.at(n.Tags, 0), true }, nil)
	return harness.NewStore(t, client, &patterns.StoreOptions[note[L]]{Views: []patterns.View[note[L]]{byTag}})
}

func insertNote[L any](t *testing.T, s *patterns.Store[note[L]], l list[L], row string, tags ...string) {
	t.Helper()
	assert.Must(s.Insert(t.Context(), &note[L]{"p", row, l.of(tags...), nil}))(t)
}

// mark returns a function that marks the first tag in place.
func mark[L any](l list[L]) func(*note[L]) error {
	return func(n *note[L]) error { *l.at(n.Tags, 0) += "+"; return nil }
}

// wantTag fails unless the note has the first tag, and all rows of the index are right.
func wantTag[L any](t *testing.T, s *patterns.Store[note[L]], l list[L], row, tag string) {
	t.Helper()
	assert.Equal(t, *l.at(assert.Must(s.Get(t.Context(), noteKey(row)))(t).Value.Tags, 0), tag, "the tag of", row, "is")
	for f, err := range reindex.Verify(t.Context(), s, "", nil) {
		assert.NoError(t, err)
		assert.Equal(t, f.Kind, reindex.Duplicate)
	}
}

func testBulkOfManyBytes[L any](t *testing.T, b *harness.Backend, l list[L], reread int) {
	s := harness.NewStore[note[L]](t, b.Table(t), nil)
	const n = 90
	text := []byte(strings.Repeat("x", 60000))
	var ops []patterns.StoreOp[note[L]]
	for i := range n {
		item := assert.Must(s.Insert(t.Context(), &note[L]{"p", fmt.Sprint(i), l.of(fmt.Sprint("t", i)), text}))(t)
		ops = append(ops, patterns.UpdateEntity(item.Key, mark(l)).Was(item))
	}
	b.ResetRequests()
	assert.Must(s.Bulk(t.Context(), slices.Values(ops), nil))(t)
	want := map[string]int{"Table.Batch": 2}
	if reread > 0 {
		want["Table.Get"] = n * reread
	}
	b.WantRequests(t, want)
	wantTag(t, s, l, "7", "t7+")
}

func TestABulkThatDividesATransactionAppliesAChangeInPlaceOnce(t *testing.T) {
	inPlace(t, testBulkOfManyBytes, testBulkOfManyBytes)
}

func testBulkWithAFailure[L any](t *testing.T, b *harness.Backend, l list[L], reread int) {
	s := notes(t, b.Table(t), l)
	insertNote(t, s, l, "r", "a")
	insertNote(t, s, l, "x", "x")
	item := assert.Must(s.Get(t.Context(), noteKey("r")))(t)
	b.ResetRequests()
	report, err := s.Bulk(t.Context(), slices.Values([]patterns.StoreOp[note[L]]{
		patterns.UpdateEntity(item.Key, mark(l)).Was(item),
		patterns.InsertEntity(&note[L]{"p", "x", l.of("y"), nil}),
	}), nil)
	assert.WantError(t, err, patterns.ErrExists)
	assert.Equal(t, report.Done, 1)
	// The read of the row that exists, and the transactions with and without its operation.
	b.WantRequests(t, map[string]int{"Table.Batch": 2, "Table.Get": 1 + reread})
	wantTag(t, s, l, "r", "a+")
}

func TestABulkAfterTheFailureOfAnotherOperationAppliesAChangeInPlaceOnce(t *testing.T) {
	inPlace(t, testBulkWithAFailure, testBulkWithAFailure)
}

func testBatchCommittedAgain[L any](t *testing.T, b *harness.Backend, l list[L], reread int) {
	s := notes(t, b.Table(t), l)
	insertNote(t, s, l, "r", "a")
	insertNote(t, s, l, "x", "x")
	item := assert.Must(s.Get(t.Context(), noteKey("r")))(t)
	batch := s.Batch().Add(patterns.UpdateEntity(item.Key, mark(l)).Was(item)).Insert(&note[L]{"p", "x", l.of("y"), nil})
	for range 2 {
		_, err := batch.Commit(t.Context())
		assert.WantError(t, err, patterns.ErrExists)
	}
	assert.NoError(t, s.Delete(t.Context(), noteKey("x")))
	b.ResetRequests()
	items := assert.Must(batch.Commit(t.Context()))(t)
	want := map[string]int{"Table.Batch": 1}
	if reread > 0 {
		want["Table.Get"] = reread
	}
	b.WantRequests(t, want)
	assert.Equal(t, *l.at(items[0].Value.Tags, 0), "a+", "returned")
	wantTag(t, s, l, "r", "a+")
}

func TestABatchThatIsCommittedAgainAppliesAChangeInPlaceOnce(t *testing.T) {
	inPlace(t, testBatchCommittedAgain, testBatchCommittedAgain)
}

func testDuplicate[L any](t *testing.T, b *harness.Backend, l list[L], reread int) {
	client := b.Table(t)
	plain := harness.NewStore[note[L]](t, client, nil)
	insertNote(t, plain, l, "1", "a", "x")
	insertNote(t, plain, l, "2", "a", "y")
	first := func(n *note[L]) (string, bool) { return *l.at(n.Tags, 0), true }
	all := secondaryindex.Intra("all", first, &secondaryindex.Options[note[L]]{NonUnique: true})
	one := secondaryindex.Intra("one", first, &secondaryindex.Options[note[L]]{Duplicates: all})
	s := harness.NewStore(t, client, &patterns.StoreOptions[note[L]]{Views: []patterns.View[note[L]]{all, one}})
	for _, view := range []string{"all", "one"} {
		assert.Must(reindex.Backfill(t.Context(), s, view, "", nil))(t)
	}
	item := assert.Must(s.Get(t.Context(), noteKey("2")))(t)
	b.ResetRequests()
	item = assert.Must(s.UpdateItem(t.Context(), item, func(n *note[L]) error { *l.at(n.Tags, 1) += "!"; return nil }))(t)
	// Of the shared row, twice of the row of the others, and of the primaries to find that they share it.
	b.WantRequests(t, map[string]int{"Table.Batch": 1, "Table.Get": 5 + reread})
	assert.Equal(t, *l.at(item.Value.Tags, 1), "y!", "returned")
	wantTag(t, s, l, "2", "a")
}

func TestAnUpdateOfADuplicateAppliesAChangeInPlaceOnce(t *testing.T) {
	inPlace(t, testDuplicate, testDuplicate)
}

func TestAnItemIsAsItWasReadAfterAnUpdateThatFailed(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := notes(t, b.Table(t), tagSlice)
		insertNote(t, s, tagSlice, "r", "a")
		insertNote(t, s, tagSlice, "x", "x")
		item := assert.Must(s.Get(t.Context(), noteKey("r")))(t)
		stop := errors.New("stop")
		for _, update := range []func() error{
			func() error {
				return assert.ErrorOf(s.UpdateItem(t.Context(), item, func(n *note[[]string]) error { mark(tagSlice)(n); return stop }))
			},
			func() error {
				op := patterns.UpdateEntity(item.Key, mark(tagSlice)).Was(item)
				return assert.ErrorOf(s.Batch().Add(op).Delete(noteKey("none")).Commit(t.Context()))
			},
			func() error {
				return assert.ErrorOf(s.Explain(patterns.UpdateEntity(item.Key, mark(tagSlice)).Was(item)))
			},
			func() error {
				return assert.ErrorOf(s.Explain(patterns.UpdateEntity(item.Key, mark(tagSlice)), &item.Value))
			},
		} {
			if err := update(); err != nil && !errors.Is(err, stop) && !errors.Is(err, patterns.ErrNotFound) {
				t.Fatal(err)
			}
			assert.Equal(assert.Now(t), item.Value.Tags[0], "a", "the item has the tag")
		}
		b.ResetRequests()
		assert.Must(s.UpdateItem(t.Context(), item, mark(tagSlice)))(t)
		b.WantRequests(t, map[string]int{"Table.Batch": 1})
		wantTag(t, s, tagSlice, "r", "a+")
	})
}

// An update that is explained, or one that failed, may have changed the item, so it is read again.
func TestAnOperationIsCarriedOutAfterItWasExplained(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := notes(t, b.Table(t), tagOpaque)
		insertNote(t, s, tagOpaque, "r", "a")
		item := assert.Must(s.Get(t.Context(), noteKey("r")))(t)
		op := patterns.UpdateEntity(item.Key, mark(tagOpaque)).Was(item)
		plan := assert.Must(s.Explain(op))(t)
		if plan.Requests != 1 || plan.Entities != 3 { // the primary, the new row of the index, and the old one
			t.Errorf("%+v", plan)
		}
		b.ResetRequests()
		assert.Must(s.Batch().Add(op).Commit(t.Context()))(t)
		b.WantRequests(t, map[string]int{"Table.Batch": 1, "Table.Get": 1})
		wantTag(t, s, tagOpaque, "r", "a+")
	})
}

func TestTheItemOfAWriteSharesNothingWithTheValueThatWasWritten(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		s := notes(t, b.Table(t), tagSlice)
		v := &note[[]string]{"p", "r", []string{"a"}, nil}
		item := assert.Must(s.Insert(t.Context(), v))(t)
		for _, tag := range []string{"b", "c"} {
			v.Tags[0] = tag
			item = assert.Must(s.PutItem(t.Context(), item, v))(t)
			wantTag(t, s, tagSlice, "r", tag)
		}
	})
}
