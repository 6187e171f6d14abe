package largeentity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/testbed"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

func TestNewRefusesWhatCannotWork(t *testing.T) {
	acct := storagetest.New(t)
	client, blobs := acct.Tables().NewClient("Employees"), acct.Container("photos")
	type options = largeentity.Options[employee]
	for name, c := range map[string]struct {
		err  error // of New
		says string
	}{
		"no client":          {second(largeentity.New[employee](nil, blobs, nil)), "client"},
		"no container":       {second(largeentity.New[employee](client, nil, nil)), "container"},
		"threshold too high": {second(largeentity.New(client, blobs, &options{Threshold: 64<<10 + 1})), "Threshold"},
		"threshold too low":  {second(largeentity.New(client, blobs, &options{Threshold: -2})), "Threshold"},
		"long prefix":        {second(largeentity.New(client, blobs, &options{Prefix: strings.Repeat("x", 513)})), "Prefix"},
		"bad prefix":         {second(largeentity.New(client, blobs, &options{Prefix: "a\x01"})), "Prefix"},
		"no tagged field":    {second(largeentity.New[struct{ PartitionKey, RowKey string }](client, blobs, nil)), "no field"},
		"no key": {second(largeentity.New[struct {
			X string `table:",blob"`
		}](client, blobs, nil)), "PartitionKey"},
		"a channel": {second(largeentity.New[struct {
			PartitionKey, RowKey string
			X                    chan int
		}](client, blobs, nil)), "field X"},
		"a stream without tag": {second(largeentity.New[struct {
			PartitionKey, RowKey string
			X                    largeentity.Stream `table:",json"`
			Y                    string             `table:",blob"`
		}](client, blobs, nil)), "field X"},
		"behind a pointer": {second(largeentity.New[struct {
			PartitionKey, RowKey string
			*Embedded
		}](client, blobs, nil)), "field X"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if n := len(acct.Log()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

type Embedded struct {
	X string `table:",blob"`
}

func second[T any](_ T, err error) error { return err }

func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, nil)
		ctx := t.Context()
		item := must[largeentity.Item[employee]](t)(table.Insert(ctx, newJones("a", large)))
		b.ResetRequests()
		change := func(f func(*largeentity.Item[employee])) error {
			other := item
			other.Value.Photo = noise("b", large)
			f(&other)
			return second(table.Replace(ctx, other))
		}
		insert := func(f func(*employee)) error {
			e := newJones("c", large)
			f(e)
			return second(table.Insert(ctx, e))
		}
		var property *patterns.PropertyError
		for name, c := range map[string]struct {
			err  error
			want func(error) bool
		}{
			"nil":              {second(table.Insert(ctx, nil)), is(patterns.ErrNil)},
			"no function":      {second(table.Update(ctx, jones, nil)), is(patterns.ErrNil)},
			"bad key":          {insert(func(e *employee) { e.Email = "a/b" }), is(patterns.ErrBadKey)},
			"bad text":         {insert(func(e *employee) { e.Notes = "\xff" + strings.Repeat("x", large) }), as(&property)},
			"no ETag":          {change(func(i *largeentity.Item[employee]) { i.ETag = "" }), is(patterns.ErrBadETag)},
			"any ETag":         {change(func(i *largeentity.Item[employee]) { i.ETag = azcore.ETagAny }), is(patterns.ErrBadETag)},
			"another key":      {change(func(i *largeentity.Item[employee]) { i.Value.Email = "x" }), is(patterns.ErrKeyChanged)},
			"unknown property": {second(table.Load(ctx, item, "Age")), as(&property)},
			"short grace":      {second(table.Sweep(ctx, &largeentity.SweepOptions{Grace: time.Second})), is(largeentity.ErrGrace)},
		} {
			if c.err == nil || !c.want(c.err) {
				t.Errorf("%s: %v", name, c.err)
			}
		}
		wantRequests(t, b, map[string]int{})
		type doc struct {
			PartitionKey, RowKey string
			V                    any `table:",blob"`
		}
		docs := open[doc](t, b.Table(t), b.Container(t), nil)
		if _, err := docs.Insert(ctx, &doc{"p", "r", make(chan int)}); !errors.As(err, &property) {
			t.Errorf("a channel as JSON: %v", err)
		}
		wantRequests(t, b, map[string]int{})
	})
}

// A row that is refused for its size costs no upload.
func TestARowTooLargeIsRefusedBeforeTheUpload(t *testing.T) {
	type wide struct {
		PartitionKey, RowKey string
		Bag                  map[string]any `table:",bag"`
		Photo                []byte         `table:",blob"`
	}
	testbed.RunInProcess(t, func(t *testing.T, b *testbed.Backend) {
		table := open[wide](t, b.Table(t), b.Container(t), nil)
		w := &wide{PartitionKey: "p", RowKey: "r", Bag: map[string]any{}, Photo: noise("a", large)}
		for i := range 20 {
			w.Bag[fmt.Sprintf("B%d", i)] = noise("b", 60000)
		}
		if _, err := table.Insert(t.Context(), w); !errors.Is(err, patterns.ErrTooLarge) {
			t.Errorf("got %v", err)
		}
		wantRequests(t, b, map[string]int{})
	})
}

func is(want error) func(error) bool  { return func(err error) bool { return errors.Is(err, want) } }
func as[E any](e *E) func(error) bool { return func(err error) bool { return errors.As(err, e) } }

func TestAMissingContainerIsNamed(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		client, blobs := b.Table(t), b.Container(t)
		item := must[largeentity.Item[employee]](t)(open[employee](t, client, blobs, nil).Insert(t.Context(), newJones("a", large)))
		other := b.Container(t)
		table := open[employee](t, client, other, nil)
		if _, err := table.Get(t.Context(), jones); !errors.Is(err, largeentity.ErrContainer) {
			t.Errorf("the blob of another container: %v", err)
		}
		if _, err := other.Delete(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		item.Value.Photo = noise("b", large)
		if _, err := table.Replace(t.Context(), item); !errors.Is(err, largeentity.ErrContainer) {
			t.Errorf("replace: %v", err)
		}
		if _, err := table.Sweep(t.Context(), nil); !errors.Is(err, largeentity.ErrContainer) {
			t.Errorf("sweep: %v", err)
		}
	})
}

// Whatever happened to the blob or to the reference, nobody gets a wrong value.
func TestWhatIsNotWhatWasWrittenIsAnError(t *testing.T) {
	testbed.Run(t, func(t *testing.T, b *testbed.Backend) {
		table := onBed(t, b, &largeentity.Options[employee]{Gzip: true})
		ctx := t.Context()
		e := newJones("a", large)
		e.Notes = strings.Repeat("again and ", 10000)
		item := must[largeentity.Item[employee]](t)(table.Insert(ctx, e))
		photo, _ := item.Blob("Photo")
		notes, _ := item.Blob("Remarks")
		for name, c := range map[string]struct {
			blob    largeentity.Blob
			content string
		}{
			"another checksum":    {photo, string(noise("x", large))},
			"shorter":             {photo, string(e.Photo[:large-1])},
			"longer":              {photo, string(e.Photo) + "x"},
			"empty":               {photo, ""},
			"not gzip":            {notes, "no gzip at all"},
			"gzip cut off":        {notes, "\x1f\x8b\x08"},
			"an empty gzip":       {notes, ""},
			"an ordinary content": {notes, e.Notes},
		} {
			before := must[string](t)(read(t, table, c.blob.Name))
			overwrite(t, table, c.blob.Name, c.content)
			_, err := table.Get(ctx, jones)
			wantCorrupt(t, name, err, c.blob.Name)
			overwrite(t, table, c.blob.Name, before)
		}
		wantEmployee(t, must[largeentity.Item[employee]](t)(table.Get(ctx, jones)).Value, *e)

		if _, err := table.Container().NewBlobClient(photo.Name).Delete(ctx, nil); err != nil {
			t.Fatal(err)
		}
		b.ResetRequests()
		_, err := table.Get(ctx, jones)
		var said *largeentity.Error
		if !errors.Is(err, largeentity.ErrBlobGone) || !errors.As(err, &said) || said.Property != "Photo" || strings.Contains(err.Error(), photo.Name) {
			t.Errorf("the blob is gone: %v", err)
		}
		if n := b.Requests().Count("Table.Get"); n != 2 {
			t.Errorf("the row was read %d times, want once more", n)
		}

		text := referencesIn(t, table)
		for name, bad := range map[string]string{
			"no JSON":         "{",
			"later version":   strings.Replace(text, `"version":1`, `"version":2`, 1),
			"no checksum":     strings.Replace(text, photo.SHA256, "", 1),
			"bad checksum":    strings.Replace(text, photo.SHA256, "zz", 1),
			"no name":         strings.Replace(text, photo.Name, "", 1),
			"negative length": strings.Replace(text, `"length":`, `"length":-`, 1),
			"other encoding":  strings.Replace(text, `"gzip"`, `"lzw"`, 1),
		} {
			setReferences(t, table, bad)
			_, err := table.GetMeta(ctx, jones)
			wantCorrupt(t, name, err, photo.Name)
		}
		setReferences(t, table, 17)
		_, err = table.Get(ctx, jones)
		wantCorrupt(t, "a number", err, photo.Name)
	})
}

func wantCorrupt(t testing.TB, what string, err error, name string) {
	t.Helper()
	if !errors.Is(err, largeentity.ErrCorrupt) || strings.Contains(err.Error(), name) {
		t.Errorf("%s: %v", what, err)
	}
}

func setReferences(t testing.TB, table table, value any) {
	t.Helper()
	row := must[[]byte](t)(json.Marshal(map[string]any{"PartitionKey": jones.Partition, "RowKey": jones.Row, "azp_blobs": value}))
	if _, err := table.Client().UpdateEntity(t.Context(), row, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge}); err != nil {
		t.Fatal(err)
	}
}
