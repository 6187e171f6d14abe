package largeentity_test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/largeentity"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// handEmployee is the row of a program that uses aztables alone, as in the design guide:
// Photo is the address of a blob.
type handEmployee struct {
	aztables.Entity
	FirstName, LastName string
	Age                 int32
	Photo               string `json:",omitempty"`
}

// staffMember is the same entity in the new program.
type staffMember struct {
	Department string `table:"PartitionKey"`
	Email      string `table:"RowKey"`
	FirstName  string
	LastName   string
	Age        int32
	Photo      []byte            `table:"PhotoContent,blob"`
	Skills     map[string]string `table:"SkillsContent,blob"`
}

type staff = *largeentity.Table[staffMember]

func withAddresses() *largeentity.Options[staffMember] {
	return &largeentity.Options[staffMember]{Addresses: map[string]string{"PhotoContent": "Photo", "SkillsContent": "Skills"}}
}

// addByHand adds a row. If photo is not "" it first creates the blob with that name.
func addByHand(t testing.TB, client *aztables.Client, blobs *container.Client, row, photo string) {
	t.Helper()
	e := handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: row}, FirstName: "Ken", LastName: "Kwok", Age: 23}
	if photo != "" {
		put(t, blobs, photo, []byte("photo "+photo))
		e.Photo = addressOf(blobs, photo)
	}
	assert.NoError(t, assert.ErrorOf(client.AddEntity(t.Context(), assert.Must(json.Marshal(e))(t), nil)))
}

// addressOf returns the address of a blob as a program writes it by hand.
func addressOf(blobs *container.Client, name string) string {
	address, _, _ := strings.Cut(blobs.URL(), "?")
	return address + "/" + name
}

func mergeByHand(t testing.TB, client *aztables.Client, properties map[string]any) {
	t.Helper()
	properties["PartitionKey"], properties["RowKey"] = ken.Partition, ken.Row
	body := assert.Must(json.Marshal(properties))(t)
	assert.NoError(t, assert.ErrorOf(client.UpdateEntity(t.Context(), body, &aztables.UpdateEntityOptions{UpdateMode: aztables.UpdateModeMerge})))
}

func readByHand(t testing.TB, client *aztables.Client) (e handEmployee) {
	t.Helper()
	resp := assert.Must(client.GetEntity(t.Context(), ken.Partition, ken.Row, nil))(t)
	assert.NoError(t, json.Unmarshal(resp.Value, &e))
	return e
}

// contentByHand reads the blob that the row of ken refers to.
func contentByHand(t testing.TB, client *aztables.Client, blobs *container.Client) string {
	t.Helper()
	name, ok := strings.CutPrefix(readByHand(t, client).Photo, addressOf(blobs, ""))
	if !ok {
		t.Fatalf("the address is not in the container")
	}
	resp := assert.Must(blobs.NewBlobClient(name).DownloadStream(t.Context(), nil))(t)
	defer resp.Body.Close()
	return string(assert.Must(io.ReadAll(resp.Body))(t))
}

var ken = keys.Key{Partition: "Sales", Row: "kenk@contoso.com"}

func TestABlobThatWasWrittenByHandIsReadKeptAndReplaced(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs, ctx := b.Table(t), b.Container(t), t.Context()
		addByHand(t, client, blobs, ken.Row, "people/ken k.jpg")
		address := readByHand(t, client).Photo
		var table staff = open(t, client, blobs, withAddresses())

		b.ResetRequests()
		item := assert.Must(table.Get(ctx, ken))(t)
		b.WantRequestCount(t, 2)
		if v := item.Value; v.FirstName != "Ken" || v.Age != 23 || string(v.Photo) != "photo people/ken k.jpg" {
			t.Fatalf("%+v", v)
		}
		if ref, ok := item.Blob("PhotoContent"); !ok || ref.URL != address || ref.Name != "people/ken k.jpg" || ref.SHA256 != "" {
			t.Errorf("reference %+v", ref)
		}
		// Other fields change: by a whole Item, with and without the blob, and by an update.
		item.Value.Age = 24
		b.ResetRequests()
		item = assert.Must(table.Replace(ctx, item))(t)
		b.WantRequestCount(t, 1)
		assert.Must(table.Replace(ctx, item))(t)
		b.WantRequestCount(t, 1)
		assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Age++; return nil }))(t)
		b.WantRequestCount(t, 2)
		assert.Must(table.Update(ctx, ken, func(e *staffMember) error { e.Age++; return nil }))(t)
		b.WantRequestCount(t, 3)
		if e := readByHand(t, client); e.Photo != address || e.Age != 26 {
			t.Errorf("after changes of another field: %+v", e)
		}
		if names := stored(t, blobs); len(names) != 1 {
			t.Errorf("blobs %v", names)
		}
		// A new photo is a new blob, whose address other programs read.
		assert.Must(table.Update(ctx, ken, func(e *staffMember) error { e.Photo = []byte("new"); return nil }))(t)
		if e := readByHand(t, client); e.Photo == address || strings.Contains(e.Photo, "?") {
			t.Errorf("address %q", e.Photo)
		}
		assert.Equal(t, contentByHand(t, client, blobs), "new", "content")
		item = assert.Must(table.Get(ctx, ken))(t)
		if ref, _ := item.Blob("PhotoContent"); string(item.Value.Photo) != "new" || ref.Length != 3 || ref.URL != "" {
			t.Errorf("%q, %+v", item.Value.Photo, ref)
		}
		// No photo.
		item.Value.Photo = nil
		assert.Must(table.Replace(ctx, item))(t)
		assert.Equal(t, readByHand(t, client).Photo, "", "cleared")
		if item = assert.Must(table.Get(ctx, ken))(t); item.Value.Photo != nil {
			t.Errorf("cleared: %q", item.Value.Photo)
		}
	})
}

func TestTheLastAddressCountsWhicheverProgramWroteIt(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs, ctx := b.Table(t), b.Container(t), t.Context()
		var table staff = open(t, client, blobs, withAddresses())
		assert.Must(table.Insert(ctx, &staffMember{Department: ken.Partition, Email: ken.Row, Photo: []byte("first")}))(t)
		assert.Equal(t, contentByHand(t, client, blobs), "first", "inserted")
		photo := func(want string) {
			t.Helper()
			assert.Equal(t, string(assert.Must(table.Get(ctx, ken))(t).Value.Photo), want)
		}
		// The account is reached at another host.
		_, path, _ := strings.Cut(readByHand(t, client).Photo, "://")
		_, path, _ = strings.Cut(path, "/")
		mergeByHand(t, client, map[string]any{"Photo": "https://moved.example.invalid/" + path})
		photo("first")
		put(t, blobs, "second.jpg", []byte("second"))
		mergeByHand(t, client, map[string]any{"Photo": addressOf(blobs, "second.jpg")})
		photo("second")
		put(t, blobs, "second.jpg", []byte("second, written again"))
		photo("second, written again")
		assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Age = 1; return nil }))(t)
		photo("second, written again")
		// A signature in an address does not matter.
		mergeByHand(t, client, map[string]any{"Photo": addressOf(blobs, "second.jpg") + "?sv=1&sig=x"})
		photo("second, written again")
		mergeByHand(t, client, map[string]any{"Photo": ""})
		photo("")
		mergeByHand(t, client, map[string]any{"Photo": 7})
		assert.WantError(t, assert.ErrorOf(table.Get(ctx, ken)), largeentity.ErrCorrupt, "an address that is not text")
	})
}

func TestAValueAsJSONThatWasWrittenByHandIsKept(t *testing.T) {
	harness.Run(t, func(t *testing.T, b *harness.Backend) {
		client, blobs, ctx := b.Table(t), b.Container(t), t.Context()
		addByHand(t, client, blobs, ken.Row, "")
		put(t, blobs, "skills.json", []byte("{ \"go\" : \"good\" }\n"))
		mergeByHand(t, client, map[string]any{"Skills": addressOf(blobs, "skills.json")})
		var table staff = open(t, client, blobs, withAddresses())
		item := assert.Must(table.Update(ctx, ken, func(e *staffMember) error {
			assert.Equal(t, e.Skills["go"], "good", e.Skills)
			e.Age = 1
			return nil
		}))(t)
		if ref, _ := item.Blob("SkillsContent"); ref.Name != "skills.json" {
			t.Errorf("%+v", ref)
		}
	})
}

// Nothing outside the container is read or deleted.
func TestAnAddressOutsideTheContainerIsKept(t *testing.T) {
	synctestOutbox(t, func(t *testing.T, acct *storagetest.Account, table staff, w *harness.OutboxQueue) {
		ctx, client := t.Context(), table.Client()
		other := acct.Container("others")
		assert.Must(other.Create(ctx, nil))(t)
		put(t, other, "ken.jpg", []byte("other"))
		for _, address := range []string{addressOf(other, "ken.jpg"), "https://example.invalid/photos/ken.jpg", "ken.jpg", "%"} {
			put(t, table.Container(), "ken.jpg", []byte("not this one"))
			row := handEmployee{Entity: aztables.Entity{PartitionKey: ken.Partition, RowKey: ken.Row}, Photo: address}
			assert.Must(client.UpsertEntity(ctx, assert.Must(json.Marshal(row))(t), &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}))(t)
			assert.WantError(t, assert.ErrorOf(table.Get(ctx, ken)), largeentity.ErrWrongContainer, address)
			assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Age = 30; return nil }))(t)
			if e := readByHand(t, client); e.Photo != address || e.Age != 30 {
				t.Errorf("%s: %+v", address, e)
			}
			assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Photo = []byte("new"); return nil }))(t)
			time.Sleep(10 * day)
			assert.NoError(t, w.Work(ctx, table.Handle))
			assert.Equal(t, contentByHand(t, client, table.Container()), "new", address, "replaced by")
			assert.EqualSlices(t, stored(t, other), []string{"ken.jpg"}, address)
			if names := stored(t, table.Container()); !slices.Contains(names, "ken.jpg") {
				t.Errorf("%s: deleted a blob with the same name: %v", address, names)
			}
		}
	})
}

// synctestOutbox runs body in virtual time with a Table whose rows contain addresses.
func synctestOutbox(t *testing.T, body func(t *testing.T, acct *storagetest.Account, table staff, w *harness.OutboxQueue)) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, e table) {
		var w harness.OutboxQueue
		o := withAddresses()
		o.Outbox = &w
		body(t, acct, open(t, e.Client(), e.Container(), o), &w)
	})
}

func TestABlobThatWasWrittenByHandIsDeletedAGracePeriodAfterItsReplacement(t *testing.T) {
	synctestOutbox(t, func(t *testing.T, acct *storagetest.Account, table staff, w *harness.OutboxQueue) {
		ctx := t.Context()
		addByHand(t, table.Client(), table.Container(), ken.Row, "ken.jpg")
		time.Sleep(10 * day)
		old := assert.Must(table.GetMeta(ctx, ken))(t)
		assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Photo = []byte("new"); return nil }))(t)
		time.Sleep(day - time.Minute)
		assert.NoError(t, w.Work(ctx, table.Handle))
		assert.Equal(t, string(assert.Must(table.Load(ctx, old))(t).Value.Photo), "photo ken.jpg")
		time.Sleep(3 * day)
		assert.NoError(t, w.Work(ctx, table.Handle))
		if names := stored(t, table.Container()); len(names) != 1 || names[0] == "ken.jpg" || w.Len() != 0 {
			t.Errorf("%v, %d messages", names, w.Len())
		}
		// A blob that another program refers to again is kept, although a message names it.
		put(t, table.Container(), "ken.jpg", []byte("again"))
		mergeByHand(t, table.Client(), map[string]any{"Photo": addressOf(table.Container(), "ken.jpg")})
		item := assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Photo = []byte("newer"); return nil }))(t)
		mergeByHand(t, table.Client(), map[string]any{"Photo": addressOf(table.Container(), "ken.jpg")})
		time.Sleep(10 * day)
		assert.NoError(t, w.Work(ctx, table.Handle))
		assert.Equal(t, contentByHand(t, table.Client(), table.Container()), "again")
		if ref, _ := item.Blob("PhotoContent"); !slices.Contains(stored(t, table.Container()), ref.Name) {
			t.Error("a blob that azp_blobs refers to was deleted")
		}
		// The same after a delete.
		assert.NoError(t, table.Delete(ctx, ken, ""))
		for range 2 {
			time.Sleep(3 * day)
			assert.NoError(t, w.Work(ctx, table.Handle))
		}
		if names := stored(t, table.Container()); len(names) != 0 {
			t.Errorf("after the delete: %v", names)
		}
	})
}

// The blobs are named so that Sweep finds them. The rows have no property of this package.
func TestSweepKeepsTheBlobsWhoseAddressARowContains(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, e table) {
		const (
			name   = "employees/0b4f6d1e-8a35-4c8e-9f0d-00000000000"
			kens   = name + "1"
			anns   = name + "2"
			alias  = name + "3"
			path   = name + "4"
			orphan = name + "5"
		)
		ctx, client, blobs := t.Context(), e.Client(), e.Container()
		var table staff = open(t, client, blobs, withAddresses())
		addByHand(t, client, blobs, ken.Row, kens)
		addByHand(t, client, blobs, "2", "")
		addByHand(t, client, blobs, "3", anns)
		put(t, blobs, orphan, []byte("x"))
		// The account has other hosts too.
		for row, address := range map[string]string{alias: "https://cdn.example.invalid/photos/", path: "http://127.0.0.1:1/account/photos/"} {
			put(t, blobs, row, []byte("x"))
			v := handEmployee{Entity: aztables.Entity{PartitionKey: "Sales", RowKey: "alias " + row[len(name):]}, Photo: address + row}
			assert.Must(client.AddEntity(ctx, assert.Must(json.Marshal(v))(t), nil))(t)
		}
		for range 3 {
			time.Sleep(2 * day)
			assert.Must(table.Sweep(ctx, nil))(t)
		}
		assert.EqualSlices(t, stored(t, blobs), []string{kens, anns, alias, path})
		// A blob of this package whose row was copied by hand.
		assert.Must(table.UpdateMeta(ctx, ken, func(e *staffMember) error { e.Photo = []byte("new"); return nil }))(t)
		row := readByHand(t, client)
		row.RowKey = "6"
		assert.Must(client.AddEntity(ctx, assert.Must(json.Marshal(row))(t), nil))(t)
		assert.Must(client.DeleteEntity(ctx, ken.Partition, ken.Row, nil))(t)
		for range 3 {
			time.Sleep(2 * day)
			assert.Must(table.Sweep(ctx, nil))(t)
		}
		assert.Equal(t, string(assert.Must(table.Get(ctx, keys.Key{Partition: "Sales", Row: "6"}))(t).Value.Photo), "new")
		if slices.Contains(stored(t, blobs), kens) {
			t.Error("the replaced blob remains")
		}
		// A program without the option stores a photo and does not change the address.
		old := open[staffMember](t, client, blobs, nil)
		sixth := assert.Must(old.GetMeta(ctx, keys.Key{Partition: "Sales", Row: "6"}))(t)
		sixth.Value.Photo = noise("x", large)
		sixth = assert.Must(old.Replace(ctx, sixth))(t)
		for range 3 {
			time.Sleep(2 * day)
			assert.Must(table.Sweep(ctx, nil))(t)
		}
		assert.Equal(t, assert.ErrorOf(old.Get(ctx, sixth.Key)), nil, "its blob")
		// An address that cannot be read might be that of any blob.
		put(t, blobs, orphan, []byte("x"))
		bad := assert.Must(json.Marshal(map[string]any{"PartitionKey": "Sales", "RowKey": "7", "Photo": 1}))(t)
		assert.Must(client.AddEntity(ctx, bad, nil))(t)
		time.Sleep(2 * day)
		assert.WantError(t, assert.ErrorOf(table.Sweep(ctx, nil)), largeentity.ErrCorrupt)
	})
}

// A blob that another program overwrites during a read is never returned half old, half new.
func TestABlobThatChangesWhileItIsReadIsCorrupt(t *testing.T) {
	inVirtualTime(t, nil, func(t *testing.T, acct *storagetest.Account, e table) {
		type film struct {
			PartitionKey, RowKey string
			Video                largeentity.Stream `table:"VideoContent,blob"`
		}
		ctx, blobs := t.Context(), e.Container()
		put(t, blobs, "v.mp4", bytes.Repeat([]byte("a"), 1<<20))
		row := map[string]any{"PartitionKey": ken.Partition, "RowKey": ken.Row, "Video": addressOf(blobs, "v.mp4")}
		assert.Must(e.Client().AddEntity(ctx, assert.Must(json.Marshal(row))(t), nil))(t)
		films := open(t, e.Client(), blobs, &largeentity.Options[film]{Addresses: map[string]string{"VideoContent": "Video"}})
		read := func(before func()) ([]byte, error) {
			item := assert.Must(films.Get(ctx, ken))(t)
			if n, ok := item.Value.Video.Length(); ok {
				t.Errorf("length %d of a blob that was not opened", n)
			}
			acct.Fault(storagetest.On("Blob.Get").Nth(1).CutReply(1000))
			defer acct.ClearFaults()
			body := assert.Must(item.Value.Video.Open(ctx))(t)
			defer body.Close()
			before()
			return io.ReadAll(body)
		}
		assert.Equal(t, len(assert.Must(read(func() {}))(t)), 1<<20)
		assert.WantError(t, assert.ErrorOf(read(func() { put(t, blobs, "v.mp4", bytes.Repeat([]byte("b"), 1<<20)) })), largeentity.ErrCorrupt, "a changed blob")
	})
}

func TestNewRefusesInvalidAddresses(t *testing.T) {
	acct := storagetest.New(t)
	client, blobs := acct.Tables().NewClient("T"), acct.Container("photos")
	for what, o := range map[string]largeentity.Options[staffMember]{
		"no such field":       {Addresses: map[string]string{"Photo": "P"}},
		"not a blob":          {Addresses: map[string]string{"Age": "P"}},
		"a field":             {Addresses: map[string]string{"PhotoContent": "Age"}},
		"the same twice":      {Addresses: map[string]string{"PhotoContent": "P", "SkillsContent": "P"}},
		"a reserved name":     {Addresses: map[string]string{"PhotoContent": "azp_blobs"}},
		"a key":               {Addresses: map[string]string{"PhotoContent": "RowKey"}},
		"compressed contents": {Addresses: map[string]string{"PhotoContent": "P"}, Gzip: true},
	} {
		if _, err := largeentity.New(client, blobs, &o); err == nil || !strings.Contains(err.Error(), "option ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	assert.Equal(t, len(acct.Log()), 0, "requests were made")
}
