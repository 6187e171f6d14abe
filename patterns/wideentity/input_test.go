package wideentity_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/wideentity"
)

// The error names the property and does not contain its value.
func TestInvalidInputIsRefusedBeforeAnyRequest(t *testing.T) {
	const secret = "SECRET"
	many := days(300)
	crowded := properties{}
	for i := 1; len(crowded) < 252; i++ {
		if name := dayName(i); hashOf(name, 16) == 3 {
			crowded[name] = int32(i)
		}
	}
	heavy := properties{"Heavy": noise(18 << 20)}
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		read := assert.Must(table.Insert(t.Context(), &many))(t)
		b.ResetRequests()
		put := func(v properties) func(context.Context) error {
			return func(ctx context.Context) error { _, err := table.Put(ctx, keyed(wideKey("x"), &v)); return err }
		}
		at := func(key keys.Key) func(context.Context) error {
			return func(ctx context.Context) error { _, err := table.Get(ctx, key); return err }
		}
		merge := func(v properties, names ...string) func(context.Context) error {
			return func(ctx context.Context) error {
				item := read
				item.Value = v
				_, err := table.Merge(ctx, item, names...)
				return err
			}
		}
		for name, c := range map[string]struct {
			run      func(context.Context) error
			is       error
			property string
		}{
			"a part of 252 own properties":     {put(crowded), patterns.ErrTooLarge, "Day"},
			"a value larger than all parts":    {put(heavy), patterns.ErrTooLarge, "Heavy"},
			"a name with a dash":               {put(properties{"a-b": secret}), nil, "a-b"},
			"a reserved name":                  {put(properties{"azp_x": secret}), nil, "azp_x"},
			"text that is not UTF-8":           {put(properties{"A": secret + "\xff"}), nil, "A"},
			"a type that cannot be a property": {put(properties{"A": struct{}{}}), nil, "A"},
			"large text that is not UTF-8":     {put(properties{"A": strings.Repeat(secret, 20_000) + "\xff"}), nil, "A"},
			"a long name of a value in pieces": {put(properties{strings.Repeat("n", 250): noise(70_000)}), patterns.ErrTooLarge, "nnn"},
			"no id":                            {at(keys.Key{Partition: "p"}), patterns.ErrBadKey, ""},
			"a partition key with a slash":     {at(keys.Key{Partition: "p/", Row: "r"}), patterns.ErrBadKey, ""},
			"an id that is too long":           {at(wideKey(strings.Repeat("r", 500))), patterns.ErrBadKey, ""},
			"a merge of what has no value":     {merge(properties{"A": secret}, "B"), nil, "B"},
			"a merge of nothing":               {merge(properties{"A": secret}), patterns.ErrNil, ""},
			"a merge of over 4 MiB":            {merge(properties{"Heavy": noise(4 << 20)}, "Heavy"), patterns.ErrTooLarge, "Heavy"},
			"a set of over 4 MiB": {func(ctx context.Context) error {
				return mergeAny(ctx, table, year, &properties{"Heavy": noise(4 << 20)}, "Heavy")
			}, patterns.ErrTooLarge, "Heavy"},
			"a merge of a reserved name": {merge(properties{"azp_part": secret}, "azp_part"), nil, "azp_part"},
			"an item made by hand": {func(ctx context.Context) error {
				_, err := table.Replace(ctx, wideentity.Item[properties]{Key: year, Value: many, ETag: "*"})
				return err
			}, patterns.ErrBadETag, ""},
			"no value":           {func(ctx context.Context) error { _, err := table.Put(ctx, nil); return err }, patterns.ErrNil, ""},
			"no value to insert": {func(ctx context.Context) error { _, err := table.Insert(ctx, nil); return err }, patterns.ErrNil, ""},
			"no function":        {func(ctx context.Context) error { _, err := table.Update(ctx, year, nil); return err }, patterns.ErrNil, ""},
		} {
			err := c.run(t.Context())
			var p *patterns.PropertyError
			switch {
			case err == nil, c.is != nil && !errors.Is(err, c.is):
				t.Errorf("%s: got %v, want %v", name, err, c.is)
			case c.property != "" && (!errors.As(err, &p) || !strings.HasPrefix(p.Property, c.property)):
				t.Errorf("%s: %v does not name %s", name, err, c.property)
			case strings.Contains(fmt.Sprintf("%v", err), secret):
				t.Errorf("%s: the message contains the value", name)
			}
		}
		b.WantRequests(t, map[string]int{})
	})
}

func TestNewRefusesInvalidOptionsAndTypes(t *testing.T) {
	client := new(aztables.Client)
	type named struct{ PartitionKey, RowKey, A, B string }
	type keyless struct{ A, B string }
	byHand := &wideentity.Options[properties]{Key: func(*properties) (keys.Key, error) { return keys.Key{}, errors.New("no key") }}
	for name, c := range map[string]struct {
		make func() error
		is   error
	}{
		"no client": {func() error { _, err := wideentity.New[properties](nil, nil); return err }, patterns.ErrNil},
		"too many parts": {func() error {
			_, err := wideentity.New[properties](client, &wideentity.Options[properties]{Parts: 99})
			return err
		}, wideentity.ErrParts},
		"negative parts": {func() error {
			_, err := wideentity.New[properties](client, &wideentity.Options[properties]{Parts: -1})
			return err
		}, wideentity.ErrParts},
		"a rule that returns no part": {func() error {
			_, err := wideentity.New[named](client, &wideentity.Options[named]{Parts: 2, PartOf: func(name string) int { return len(name) + 2 }})
			return err
		}, wideentity.ErrParts},
		"a type without a key": {func() error { _, err := wideentity.New[keyless](client, nil); return err }, patterns.ErrBadKey},
		"a map without a key": {func() error {
			table, err := wideentity.New[properties](client, nil)
			return errors.Join(err, assert.ErrorOf(table.Insert(t.Context(), &properties{"A": 1})))
		}, patterns.ErrBadKey},
		"a value whose key is refused": {func() error {
			table, err := wideentity.New(client, byHand)
			return errors.Join(err, assert.ErrorOf(table.Put(t.Context(), &properties{"A": 1})))
		}, nil},
		"a type that cannot be an entity": {func() error { _, err := wideentity.New[int](client, nil); return err }, nil},
	} {
		if err := c.make(); err == nil || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: got %v, want %v", name, err, c.is)
		}
	}
}

// Ids with a common prefix, and ids that contain the separators of row keys, are separate
// entities. Rows of other programs between them are not touched.
func TestSimilarIdsAreSeparateEntities(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client := b.Table(t)
		table := open[properties](t, client, nil)
		ids := []string{"a", "a_", "a_01", "a_00", "aa", "a~", "a_~azp_0000000000000", "A", "a b", "å", "0"}
		for _, id := range ids {
			v := properties{"Id": id, "Other" + fmt.Sprint(len(id)): id}
			assert.Must(table.Insert(t.Context(), keyed(wideKey(id), &v)))(t)
		}
		for _, foreign := range []string{"a_2012", "a_1", "a_99", "a"} {
			if _, err := client.AddEntity(t.Context(), []byte(`{"PartitionKey":"Sales","RowKey":"`+foreign+`","Id":"foreign"}`), nil); err != nil {
				t.Fatal(err)
			}
		}
		rows := rawRows(t, b, client)
		for _, opts := range []*patterns.SweepOptions{
			{OlderThan: 1}, {OlderThan: 1, Partitions: []string{year.Partition}},
		} {
			if r, err := table.Sweep(t.Context(), opts); r.Done != 0 || err != nil || rawRows(t, b, client) != rows {
				t.Errorf("swept %d rows: %v", r.Done, err)
			}
		}
		for i, id := range ids {
			item := assert.Must(table.Get(t.Context(), wideKey(id)))(t)
			if item.Value["Id"] != id || item.Value["RowKey"] != id || len(item.Value) != 4 {
				t.Errorf("entity %q is another one", id)
			}
			if err := table.Delete(t.Context(), wideKey(id), ""); err != nil {
				t.Fatal(err)
			}
			for _, left := range ids[i+1:] {
				assert.Must(table.Get(t.Context(), wideKey(left)))(t)
			}
		}
		if n := rawRows(t, b, client); n != 4 {
			t.Errorf("%d rows are left, want those of other programs", n)
		}
	})
}

// Changes of rows with these keys need the accelerating policy, as in any transaction.
func TestEmptyPartitionKeysAndQuotesNeedTheAcceleratingPolicy(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		v := days(20)
		for _, key := range []keys.Key{{Partition: "", Row: "x"}, {Partition: "O'Neil", Row: "x'y"}} {
			assert.Must(table.Insert(t.Context(), keyed(key, &v)))(t)
			_, err := table.Put(t.Context(), keyed(key, &v))
			if !b.Accelerated {
				if !errors.Is(err, patterns.ErrNeedsAccelerate) {
					t.Errorf("plain: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			wantProperties(t, assert.Must(table.Get(t.Context(), key))(t).Value, v)
			assert.Must(table.GetOnly(t.Context(), key, dayName(1), dayName(2)))(t)
			if err := table.Delete(t.Context(), key, ""); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestACanceledContextEndsEveryOperation(t *testing.T) {
	harness.RunInProcess(t, func(t *testing.T, b *harness.Backend) {
		table := open[properties](t, b.Table(t), nil)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		v := days(3)
		_, put := table.Put(ctx, &v)
		_, get := table.Get(ctx, year)
		_, read := table.GetOnly(ctx, year, dayName(1), dayName(2))
		_, sweep := table.Sweep(ctx, nil)
		for _, err := range []error{put, get, read, sweep, table.Delete(ctx, year, ""), mergeAny(ctx, table, year, &v, dayName(1))} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		b.WantRequests(t, map[string]int{})
	})
}
