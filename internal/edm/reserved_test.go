package edm

import (
	"reflect"
	"testing"
)

// A program that copies the rows of a Store has to read and write the properties that the Store adds.
func TestAMapCanHaveThePropertiesThatAStoreAdds(t *testing.T) {
	type all struct {
		Properties map[string]any `table:",bag,reserved"`
	}
	codec, err := CodecFor(reflect.TypeFor[all]())
	if err != nil {
		t.Fatal(err)
	}
	const row = `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r","azp_outbox":1,"azp_view":"v","azp_stamp":"s"}`
	var read all
	var m Meta
	if err := codec.DecodeEntity([]byte(row), &read, &m, nil); err != nil {
		t.Fatal(err)
	}
	if want := map[string]any{"azp_outbox": int32(1), "azp_view": "v"}; !reflect.DeepEqual(read.Properties, want) {
		t.Errorf("read %v, want %v", read.Properties, want)
	}
	body, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"})
	if want := `{"PartitionKey":"p","RowKey":"r","azp_outbox":1,"azp_view":"v"}`; err != nil || string(body) != want {
		t.Errorf("wrote %s, %v, want %s", body, err, want)
	}
	read.Properties["azp_stamp"] = "s"
	if _, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"}); err == nil {
		t.Error("a stamp was written by a program that does not stamp its writes")
	}
}

// The ETag of a row goes to a field with that name. A tag with the name is for a property, which an
// old program may have stored.
func TestATagCanNameAPropertyETag(t *testing.T) {
	type row struct {
		ETag  string
		Named string `table:"ETag"`
	}
	codec, err := CodecFor(reflect.TypeFor[row]())
	if err != nil {
		t.Fatal(err)
	}
	var read row
	if err := codec.DecodeEntity([]byte(`{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","ETag":"own"}`), &read, new(Meta), nil); err != nil {
		t.Fatal(err)
	}
	if want := (row{`W/"1"`, "own"}); read != want {
		t.Errorf("read %+v, want %+v", read, want)
	}
	body, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"})
	if want := `{"PartitionKey":"p","RowKey":"r","ETag":"own"}`; err != nil || string(body) != want {
		t.Errorf("wrote %s, %v, want %s", body, err, want)
	}
}
