package largeentity

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/azpatterns/azpatterns/patterns"
)

// referencesName is the property of a row that refers to its blobs.
const referencesName = "azp_blobs"

// formVersion is the version of the form of that property.
const formVersion = 1

// gzipped is the one encoding of a blob's content.
const gzipped = "gzip"

// Blob is a reference to a blob, as the entity's row keeps it. Blobs are created once
// under a name that no other ever has, and never changed, so that name and checksum
// say which content is meant.
type Blob struct {
	Container string `json:"container"`
	Name      string `json:"name"`
	Length    int64  `json:"length"`             // of the value, before compression
	SHA256    string `json:"sha256"`             // of the value, hexadecimal
	Encoding  string `json:"encoding,omitempty"` // "gzip", or "" for none
}

// references are those of one row, by property. They are stored as JSON:
//
//	{"version":1,"blobs":{"Photo":{"container":"…","name":"…","length":3,"sha256":"…"}}}
type references map[string]Blob

type referencesForm struct {
	Version int             `json:"version"`
	Blobs   map[string]Blob `json:"blobs,omitempty"`
}

func (r references) text() string {
	text, _ := json.Marshal(referencesForm{formVersion, r}) // strings and numbers only
	return string(text)
}

func parseReferences(text string) (references, error) {
	bad := func(why string) error {
		return &Error{Op: "read references", kind: fmt.Errorf("%w: %s", ErrCorrupt, why)}
	}
	var form referencesForm
	if err := json.Unmarshal([]byte(text), &form); err != nil {
		return nil, bad("references are not JSON of the documented form")
	}
	if form.Version != formVersion {
		return nil, bad("references are of an unknown version")
	}
	for _, b := range form.Blobs {
		sum, err := hex.DecodeString(b.SHA256)
		switch {
		case b.Name == "" || b.Length < 0 || err != nil || len(sum) != 32:
			return nil, bad("reference is incomplete")
		case b.Encoding != "" && b.Encoding != gzipped:
			return nil, bad("unknown encoding")
		}
	}
	return form.Blobs, nil
}

// referencesOf reads those of a row. had is false where it has none.
func referencesOf[T any](row patterns.Item[T]) (refs references, had bool, err error) {
	value, ok := row.Property(referencesName)
	if !ok {
		return nil, false, nil
	}
	text, ok := value.(string)
	if !ok {
		text = "" // refused as not JSON
	}
	refs, err = parseReferences(text)
	return refs, true, err
}

func (r references) clone() references {
	if r == nil {
		return references{}
	}
	return maps.Clone(r)
}
