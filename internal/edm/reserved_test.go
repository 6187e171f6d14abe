package edm

import (
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/azpatterns/azpatterns/internal/assert"
)

// A program that copies the rows of a Store has to read and write the properties that the Store adds.
func TestAMapCanHaveThePropertiesThatAStoreAdds(t *testing.T) {
	type all struct {
		Properties map[string]any `table:",bag,reserved"`
	}
	codec := assert.Must(CodecFor(reflect.TypeFor[all]()))(t)
	const row = `{"odata.metadata":"x","PartitionKey":"p","RowKey":"r","azp_outbox":1,"azp_view":"v","azp_stamp":"s"}`
	var read all
	var m Meta
	assert.NoError(t, codec.DecodeEntity([]byte(row), &read, &m, nil))
	assert.DeepEqual(t, read.Properties, map[string]any{"azp_outbox": int32(1), "azp_view": "v"}, "read")
	body, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"})
	if want := `{"PartitionKey":"p","RowKey":"r","azp_outbox":1,"azp_view":"v"}`; err != nil || string(body) != want {
		t.Errorf("wrote %s, %v, want %s", body, err, want)
	}
	read.Properties["azp_stamp"] = "s"
	if _, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"}); err == nil {
		t.Error("a stamp was written by a program that does not stamp its writes")
	}
}

// The ETag of a row goes to a field with that name and the type of ETags. A field of another type, or a tag with the name,
// is for a property, for example the ETag of a blob.
func TestAPropertyCanBeCalledETag(t *testing.T) {
	type row struct {
		ETag  azcore.ETag
		Named string `table:"ETag"`
	}
	codec := assert.Must(CodecFor(reflect.TypeFor[row]()))(t)
	var read row
	assert.NoError(t, codec.DecodeEntity([]byte(`{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","ETag":"own"}`), &read, new(Meta), nil))
	assert.Equal(t, read, (row{`W/"1"`, "own"}), "read")
	body, err := codec.Append(nil, &read, Envelope{PartitionKey: "p", RowKey: "r"})
	if want := `{"PartitionKey":"p","RowKey":"r","ETag":"own"}`; err != nil || string(body) != want {
		t.Errorf("wrote %s, %v, want %s", body, err, want)
	}

	type file struct{ ETag string }
	codec = assert.Must(CodecFor(reflect.TypeFor[file]()))(t)
	var of file
	assert.NoError(t, codec.DecodeEntity([]byte(`{"odata.etag":"W/\"1\"","PartitionKey":"p","RowKey":"r","ETag":"own"}`), &of, new(Meta), nil))
	assert.Equal(t, of.ETag, "own")
	body, err = codec.Append(nil, &of, Envelope{PartitionKey: "p", RowKey: "r"})
	if want := `{"PartitionKey":"p","RowKey":"r","ETag":"own"}`; err != nil || string(body) != want {
		t.Errorf("wrote %s, %v, want %s", body, err, want)
	}
}
