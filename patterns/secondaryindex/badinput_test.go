package secondaryindex_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/secondaryindex"
)

func TestConstructorsRefuseWhatCannotBe(t *testing.T) {
	type keyless struct{ Name string }
	type options = secondaryindex.Options[employee]
	keylessName := func(k *keyless) (string, bool) { return k.Name, true }
	for name, c := range map[string]struct {
		make func() error
		want error
	}{
		"name":        {func() error { _, err := secondaryindex.Intra("e_mail", emailOf); return err }, patterns.ErrBadKey},
		"no name":     {func() error { _, err := secondaryindex.Inter("", nil, emailOf); return err }, patterns.ErrBadKey},
		"no function": {func() error { _, err := secondaryindex.Intra[employee]("email", nil); return err }, patterns.ErrNil},
		"no key":      {func() error { _, err := secondaryindex.Intra("name", keylessName); return err }, patterns.ErrBadKey},
		"partition": {func() error {
			_, err := secondaryindex.Intra("email", emailOf, options{Partition: func(*employee) string { return "" }})
			return err
		}, nil},
		"options twice": {func() error { _, err := secondaryindex.Intra("email", emailOf, options{}, options{}); return err }, nil},
		"no such column": {func() error {
			_, err := secondaryindex.Intra("email", emailOf, options{Only: []string{"Salary"}})
			return err
		}, nil},
		"no struct": {func() error {
			_, err := secondaryindex.Intra("n", func(*int) (string, bool) { return "", true })
			return err
		}, nil},
		"no store": {func() error { _, err := must(secondaryindex.Intra("email", emailOf)).On(nil); return err }, patterns.ErrNil},
	} {
		err := c.make()
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A unique index in one partition does not need the primary's key.
	if _, err := secondaryindex.Inter("name", nil, keylessName, secondaryindex.Options[keyless]{Partition: func(*keyless) string { return "" }}); err != nil {
		t.Error(err)
	}
}

func TestStoresRefuseWhatDoesNotFit(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table, err := patterns.NewTable[employee](b.Table(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		intra, inter := must(secondaryindex.Intra("email", emailOf)), must(secondaryindex.Inter("email", nil, emailOf))
		for name, o := range map[string]patterns.StoreOptions[employee]{
			"two of a name": {Views: []patterns.View[employee]{intra, inter}, Outbox: &queue{}},
			"no outbox":     {Views: []patterns.View[employee]{inter}},
		} {
			if _, err := patterns.NewStore(table, &o); !errors.Is(err, patterns.ErrBadView) || !strings.Contains(err.Error(), `"email"`) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAReaderNeedsAStoreThatKeepsItsIndex(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		kept, other := must(secondaryindex.Intra("email", emailOf)), must(secondaryindex.Intra("email", emailOf))
		store := newStore(t, b.Table(t), nil, kept)
		on(t, kept, store)
		if _, err := other.On(store); !errors.Is(err, patterns.ErrBadView) || !strings.Contains(err.Error(), `"email"`) {
			t.Errorf("another index of the same name: %v", err)
		}
		if _, err := kept.On(newStore(t, b.Table(t), nil)); !errors.Is(err, patterns.ErrBadView) {
			t.Errorf("a store without indexes: %v", err)
		}
	})
}

// The Store shows it a copy of the entity, and so do the reads that check.
func TestAFunctionThatFoldsItsValueInPlaceChangesNoEntity(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := must(secondaryindex.Intra("email", func(e *employee) (string, bool) {
			e.EmailAddress = strings.ToLower(e.EmailAddress)
			return e.EmailAddress, true
		}))
		store := newStore(t, b.Table(t), nil, index)
		insert(t, store, newEmployee("Sales", "1", "Mary", "Jones", "MaryJ"))
		item, fresh, err := on(t, index, store).GetFresh(t.Context(), "Sales", "maryj", nil)
		if err != nil || fresh != secondaryindex.Fresh || item.Value.EmailAddress != "MaryJ" {
			t.Errorf("%v entity with %q, %v", fresh, item.Value.EmailAddress, err)
		}
	})
}

// The row key is longer than the value: by the name here.
func TestALongValueIsABadKeyAndNotABadView(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		index := must(secondaryindex.Intra("email", emailOf))
		store := newStore(t, b.Table(t), nil, index)
		reader := on(t, index, store)
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
		x := newIndexes(b.Table(t))
		store := newStore(t, b.Table(t), &queue{}, x.views()...)
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
				r := on(t, ix, store)
				if ix != x.last && ix != x.byLast {
					_, err = r.Get(t.Context(), "Sales", bad)
					check("get", err)
				}
				for _, seq := range []func() error{
					func() (err error) {
						for _, err = range r.Lookup(t.Context(), "Sales", bad, nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Range(t.Context(), "Sales", "", bad, nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Range(t.Context(), "Sales", bad, "", nil) {
						}
						return err
					},
					func() (err error) {
						for _, err = range r.Prefix(t.Context(), "Sales", bad, nil) {
						}
						return err
					},
				} {
					check(ix.Name(), seq())
				}
			}
			wantRequests(t, b, nil)
		}
	})
}
