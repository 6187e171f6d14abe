package secondaryindex_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestAReaderNeedsAStoreThatHasItsIndex(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		kept, other := secondaryindex.Intra("email", emailOf, nil), secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, kept)
		assert.WantError(t, assert.ErrorOf(kept.On(store).Get(t.Context(), "Sales", "a")), patterns.ErrNotFound, "an index of the store")
		if _, err := other.On(store).Get(t.Context(), "Sales", "a"); !errors.Is(err, patterns.ErrBadView) || !strings.Contains(err.Error(), `"email"`) {
			t.Errorf("another index of the same name: %v", err)
		}
		if _, err := kept.On(newStore(t, b.Table(t), nil)).Get(t.Context(), "Sales", "a"); !errors.Is(err, patterns.ErrBadView) {
			t.Errorf("a store without indexes: %v", err)
		}
	})
}

func TestAnIndexThatIsNotUniqueReturnsAllEntriesOfAValue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		x := newIndexes(t, b.Table(t))
		store := newStore(t, b.Table(t), &harness.OutboxQueue{}, x.views()...)
		insert(t, store,
			newEmployee("Sales", "000300", "Jim", "Jones", "jim@contoso.com"),
			newEmployee("Sales", "000223", "Mary", "Jones", "mary@contoso.com"),
			newEmployee("Sales", "000152", "Ann", "Jones-Lee", "ann@contoso.com"),
			newEmployee("Sales", "000153", "Ben", "Jones Lee", "ben@contoso.com"),
			newEmployee("Sales", "000154", "Cid", "JONES", "cid@contoso.com"),
			newEmployee("Marketing", "000223", "Don", "Jones", "don@contoso.com"),
		)
		for _, ix := range []*secondaryindex.Index[employee]{x.last, x.byLast} {
			r := ix.On(store)
			b.ResetRequests()
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Equal("Jones"), nil), "000223", "000300")
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Prefix("Jones"), nil), "000223", "000300", "000153", "000152")
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Prefix("Jones "), nil), "000153")
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, nil), "000154", "000223", "000300", "000153", "000152")
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Range("Jones", "Jones-"), nil), "000223", "000300", "000153")
			wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Range("Jones", "Jones"), nil))
			b.WantRequests(t, map[string]int{"Table.Query": 5}) // none for the empty range
			wantIDs(t, r.Query(t.Context(), "Marketing", secondaryindex.Equal("Jones"), nil), "000223")
			assert.WantError(t, assert.ErrorOf(r.Get(t.Context(), "Sales", "Jones")), secondaryindex.ErrNonUnique, "get")
		}
	})
}

func TestQueriesStopAtTheirLimitAndContinueAfterShortPages(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		var want []string
		for i := range 12 {
			id := fmt.Sprintf("%06d", i)
			want = append(want, id)
			insert(t, store, newEmployee("Sales", id, "A", "B", id+"@contoso.com"))
		}
		r := email.On(store)
		b.ResetRequests()
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, &patterns.QueryOptions{Limit: 3}), want[:3]...)
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Values{}, &patterns.QueryOptions{PageSize: 5}), want...)
		b.WantRequests(t, map[string]int{"Table.Query": 3})
		for range r.Query(t.Context(), "Sales", secondaryindex.Values{}, &patterns.QueryOptions{PageSize: 5}) {
			break
		}
		b.WantRequests(t, map[string]int{"Table.Query": 1})
		b.Fault(
			storagetest.On("Table.Query").Nth(1).EmptyPage(),
			storagetest.On("Table.Query").Nth(2).ShortPage(2),
			storagetest.On("Table.Query").Nth(4).LoseReply(),
		)
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Prefix("0"), nil), want...)
		b.ClearFaults()
		b.ResetRequests()
		for _, bad := range []patterns.QueryOptions{{Limit: -1}, {PageSize: -1}, {PageSize: 1001}} {
			for _, err := range r.Query(t.Context(), "Sales", secondaryindex.Values{}, &bad) {
				if err == nil || errors.Is(err, patterns.ErrTooLarge) != (bad.PageSize > 1000) {
					t.Errorf("%+v: %v", bad, err)
				}
			}
		}
		b.WantRequests(t, nil)
	})
}

// The row key is longer than the value, here by the name of the index.
func TestALongValueIsABadKeyAndNotABadView(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, index)
		reader := index.On(store)
		const most = 512 - len("email_")
		for n, fits := range map[int]bool{most: true, most + 1: false, 512: false, 513: false} {
			value := strings.Repeat("x", n)
			_, err := store.Insert(t.Context(), newEmployee("Sales", "1", "Mary", "Jones", value))
			_, lookup := reader.Get(t.Context(), "Sales", value)
			for _, err := range []error{err, lookup} {
				if fits && err != nil || !fits && (!errors.Is(err, patterns.ErrBadKey) || errors.Is(err, patterns.ErrBadView)) {
					t.Errorf("%d units: %v", n, err)
				}
			}
		}
	})
}

func TestBadValuesAreRefusedBeforeAnyRequest(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		x := newIndexes(t, b.Table(t))
		store := newStore(t, b.Table(t), &harness.OutboxQueue{}, x.views()...)
		for name, bad := range map[string]string{"not UTF-8": "a\xffsecret", "too long": strings.Repeat("secret", 100)} {
			e := jones()
			e.EmailAddress = bad
			b.ResetRequests()
			_, err := store.Insert(t.Context(), e)
			check := func(what string, err error) {
				t.Helper()
				var k *keys.Error
				if !errors.Is(err, patterns.ErrBadKey) || !errors.As(err, &k) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%s: %s: %v", name, what, err)
				}
			}
			var v *patterns.ViewError
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: insert: %v", name, err)
			}
			if name == "too long" && (!errors.As(err, &v) || v.View != "email" || !errors.Is(err, patterns.ErrBadKey)) {
				t.Errorf("%v does not name the view", err)
			}
			for _, ix := range []*secondaryindex.Index[employee]{x.email, x.slim, x.last, x.byLast, x.badge} {
				r := ix.On(store)
				if ix != x.last && ix != x.byLast {
					_, err = r.Get(t.Context(), "Sales", bad)
					check("get", err)
				}
				for _, seq := range []func() error{
					func() (err error) {
						for _, err = range r.Query(t.Context(), "Sales", secondaryindex.Equal(bad), nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Query(t.Context(), "Sales", secondaryindex.Range("", bad), nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Query(t.Context(), "Sales", secondaryindex.Range(bad, ""), nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Query(t.Context(), "Sales", secondaryindex.Prefix(bad), nil) {
						}
						return err
					},
				} {
					check(ix.Name(), seq())
				}
			}
			b.WantRequests(t, nil)
		}
	})
}

func TestPagesContinueAtTheirCursor(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		last := secondaryindex.Intra("last", lastOf, &secondaryindex.Options[employee]{NonUnique: true})
		store := newStore(t, b.Table(t), nil, last)
		var want []string
		for i := range 5 {
			id := fmt.Sprintf("%06d", i)
			want = append(want, id)
			insert(t, store, newEmployee("Sales", id, "A", "Jones", ""))
		}
		insert(t, store, newEmployee("Sales", "000009", "A", "Kwok", ""))
		r := last.On(store)
		page := func(values secondaryindex.Values, cursor string) (secondaryindex.Page[employee], error) {
			return r.Page(t.Context(), "Sales", values, cursor, &patterns.QueryOptions{Limit: 2})
		}
		for _, values := range []secondaryindex.Values{secondaryindex.Equal("Jones"), secondaryindex.Prefix("J"), secondaryindex.Range("J", "K")} {
			b.ResetRequests()
			var got []string
			first, err := page(values, "")
			for p := first; ; p, err = page(values, p.Cursor) {
				assert.NoError(t, err)
				if got = append(got, ids(p.Entries)...); p.Cursor == "" {
					break
				}
			}
			if n := len(b.Requests()); n != 3 || !slices.Equal(got, want) {
				t.Errorf("%v: got %v with %d requests", values, got, n)
			}
			for _, cursor := range []string{"x", first.Cursor + "x"} {
				assert.WantError(t, assert.ErrorOf(page(values, cursor)), patterns.ErrBadCursor, values, "a damaged cursor")
			}
			if _, err := page(secondaryindex.Equal("Kwok"), first.Cursor); !errors.Is(err, patterns.ErrBadCursor) {
				t.Errorf("%v: the cursor of other values: %v", values, err)
			}
		}
		if _, err := r.Page(t.Context(), "Sales", secondaryindex.Values{}, "", &patterns.QueryOptions{Limit: -1}); !errors.Is(err, patterns.ErrBadOption) {
			t.Errorf("a negative limit: %v", err)
		}
	})
}

func TestPartitionIsThatOfThePrimariesInEveryQuery(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		byDepartment := secondaryindex.Inter("last", nil, lastOf, &secondaryindex.Options[employee]{
			NonUnique: true, Partition: func(partition, value string) string { return partition + value[:1] },
		})
		store := newStore(t, b.Table(t), &harness.OutboxQueue{}, byDepartment)
		insert(t, store, jones())
		r := byDepartment.On(store)
		wantIDs(t, r.Query(t.Context(), "Sales", secondaryindex.Equal("Jones"), nil), "000223")
		for _, values := range []secondaryindex.Values{{}, secondaryindex.Equal("Jones"), secondaryindex.Prefix("Jo"), secondaryindex.Range("Ja", "Jz")} {
			wantIDs(t, r.Query(t.Context(), "", values.In("SalesJ"), nil), "000223")
			assert.Equal(t, len(assert.Must(r.Page(t.Context(), "", values.In("SalesJ"), "", nil))(t).Entries), 1)
		}

		b.ResetRequests()
		for what, c := range map[string]struct {
			partition string
			values    secondaryindex.Values
		}{
			"a prefix in a partition of the index":    {"SalesJ", secondaryindex.Prefix("Jo")},
			"a range in a partition of the primaries": {"Sales", secondaryindex.Range("Ja", "Jz")},
			"all values":      {"SalesJ", secondaryindex.Values{}},
			"both partitions": {"Sales", secondaryindex.Prefix("Jo").In("SalesJ")},
		} {
			for _, err := range r.Query(t.Context(), c.partition, c.values, nil) {
				assert.WantError(t, err, patterns.ErrBadOption, "query", what)
			}
			assert.WantError(t, assert.ErrorOf(r.Page(t.Context(), c.partition, c.values, "", nil)), patterns.ErrBadOption, "page of", what)
		}
		b.WantRequests(t, map[string]int{})
	})
}

func TestWritersAndReadersUseThePartitionOfTheValue(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		byLetter := func(name string) func(string, string) string {
			return func(_, value string) string { return name + "_" + value[:1] }
		}
		unique := secondaryindex.Inter("email", nil, emailOf, &secondaryindex.Options[employee]{Fold: true, Partition: byLetter("email")})
		shared := secondaryindex.Inter("last", nil, lastOf, &secondaryindex.Options[employee]{NonUnique: true, Partition: byLetter("last")})
		store := newStore(t, b.Table(t), &harness.OutboxQueue{}, unique, shared)
		insert(t, store,
			newEmployee("Sales", "1", "Mary", "Jones", "MaryJ@contoso.com"),
			newEmployee("Marketing", "1", "Jim", "Jones", "jimj@contoso.com"),
		)
		emails, names := unique.On(store), shared.On(store)
		e, err := emails.Get(t.Context(), "", "MARYJ@contoso.com")
		if err != nil || e.Key != (keys.Key{Partition: "email_m", Row: "maryj@contoso.com"}) || e.Indexed != "maryj@contoso.com" {
			t.Errorf("got %+v, %v", e, err)
		}
		wantIDs(t, emails.Query(t.Context(), "", secondaryindex.Equal("jimj@contoso.com"), nil), "1")
		wantIDs(t, emails.Query(t.Context(), "", secondaryindex.Prefix("ji").In("email_j"), nil), "1")
		wantIDs(t, names.Query(t.Context(), "", secondaryindex.Equal("Jones"), nil), "1", "1")
		page, err := names.Page(t.Context(), "", secondaryindex.Equal("Jones"), "", nil)
		if err != nil || len(page.Entries) != 2 || page.Entries[0].Key != (keys.Key{Partition: "last_J", Row: "Jones  Marketing_empid_1"}) {
			t.Errorf("got %+v, %v", page, err)
		}
		// A value is unique in the whole index, not only among the primaries of a partition.
		_, err = store.Insert(t.Context(), newEmployee("Sales", "2", "Max", "Lee", "JimJ@contoso.com"))
		wantDuplicate(t, err, "email")
	})
}

func TestASelectionIsReadFromTheCopiesAndCheckedInFull(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		email := secondaryindex.Intra("email", emailOf, nil)
		store := newStore(t, b.Table(t), nil, email)
		insert(t, store, jones())
		r := email.On(store)
		b.ResetRequests()
		for e, err := range r.Query(t.Context(), jones().PartitionKey, secondaryindex.Values{}, &patterns.QueryOptions{Select: []string{"FirstName"}}) {
			assert.NoError(t, err)
			want := employee{PartitionKey: jones().PartitionKey, RowKey: jones().RowKey, FirstName: jones().FirstName}
			assert.Equal(t, e.Value, want)
			assert.Equal(t, e.Primary, jones().key())
			b.WantRequests(t, map[string]int{"Table.Query": 1})
			c := assert.Must(r.Check(t.Context(), e, nil))(t)
			assert.Equal(t, c.Freshness, secondaryindex.Fresh)
			b.WantRequests(t, map[string]int{"Table.Get": 3})
		}
		for _, err := range r.Query(t.Context(), "Sales", secondaryindex.Values{}, &patterns.QueryOptions{Select: []string{"None"}}) {
			if !errors.As(err, new(*patterns.PropertyError)) {
				t.Errorf("an unknown name: %v", err)
			}
		}
		b.WantRequests(t, nil)
	})
}
