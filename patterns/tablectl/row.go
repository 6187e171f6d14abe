package tablectl

import (
	"bytes"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// properties are the properties of a row without its keys.
type properties = map[string]any

// stored is a row as package patterns reads and writes it. The tag keeps every property with its type,
// also those that a Store adds.
type stored struct {
	Properties properties `table:",bag,reserved"`
}

// row is a row of a table or of a file.
type row struct {
	patterns.Item[stored]
	line    int    // its number in the file, 0 if the row is of a table
	text    []byte // as patterns.EncodeJSON returns it, or as the file has it
	refused error  // why this is no row, or cannot be stored
}

// Lookup makes row a [query.Row].
func (r *row) Lookup(name string) (any, bool) {
	switch name {
	case query.PartitionKey.Name():
		return r.Key.Partition, true
	case query.RowKey.Name():
		return r.Key.Row, true
	}
	v, ok := r.Value.Properties[name]
	return v, ok
}

// encoded returns a row with its JSON.
func encoded(item patterns.Item[stored]) (row, error) {
	text, err := patterns.EncodeJSON(item)
	return row{Item: item, text: text}, err
}

// sameContent reports whether two rows have the same key and the same properties with the same types. Their values may be
// spelled differently: a service need not return a number or a time with the text that was stored.
func sameContent(a, b patterns.Item[stored]) bool {
	textA, err1 := patterns.EncodeJSON(patterns.Item[stored]{Key: a.Key, Value: a.Value})
	textB, err2 := patterns.EncodeJSON(patterns.Item[stored]{Key: b.Key, Value: b.Value})
	return err1 == nil && err2 == nil && bytes.Equal(textA, textB)
}

// textOfRows returns the lines of rows.
func textOfRows(rows []row) (text []byte) {
	for _, r := range rows {
		text = append(append(text, r.text...), '\n')
	}
	return text
}

// openTable returns the table of a client, which has all rows, whatever their properties.
func openTable(client *aztables.Client) *patterns.Table[stored] {
	t, err := patterns.NewTable(client, &patterns.TableOptions[stored]{Keyless: true})
	if err != nil {
		panic(err) // no client and no name can be the cause
	}
	return t
}

// inTable names the table of an error, which may be nil.
func inTable(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("table %s: %w", name, err)
}

func keyText(k keys.Key) string { return fmt.Sprintf("%q %q", k.Partition, k.Row) }
