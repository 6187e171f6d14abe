package largeentity

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/txn"
)

// setAddresses records the properties of [Options.Addresses] in the fields.
func (t *Table[T]) setAddresses(addresses map[string]string) error {
	properties, err := txn.Fields(reflect.TypeFor[T](), true)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, p := range properties {
		used[p.Name] = true
	}
	for property, address := range addresses {
		f := t.field(property)
		switch {
		case f == nil:
			return azerr.Errorf("a property is not that of a field tagged blob")
		case !txn.IsOwnName(address):
			return fmt.Errorf("property %s: %w", property, azerr.Errorf("no property can have the name for its address"))
		case used[address]:
			return fmt.Errorf("property %s: %w", property, azerr.Errorf("its address needs a property of its own, for which the type has no field"))
		}
		f.address, used[address] = address, true
	}
	return nil
}

// address returns the address of a blob in the container: a URL without a signature.
func (t *Table[T]) address(name string) string {
	u := *t.base
	u.Path += name
	return u.String()
}

// mayDelete reports whether the table may delete a blob of its container: if the name is one
// that it creates or, with [Options.Addresses], begins with [Options.Prefix]. A row or a message
// can contain any name. The name of the table must be known.
func (t *Table[T]) mayDelete(name string) bool {
	prefix, known := t.blobPrefix()
	addressed := slices.ContainsFunc(t.fields, func(f field) bool { return f.address != "" })
	return known && naming.IsGenerated(name, prefix) || addressed && strings.HasPrefix(name, t.prefix) && naming.ValidBlob(name)
}

// refAt returns the reference for an address that another program has written. If the
// address is not that of a blob in the container, the reference has no container.
func (t *Table[T]) refAt(address string) BlobRef {
	ref := BlobRef{URL: address}
	u, err := url.Parse(address)
	if err != nil {
		return ref
	}
	// The account may have other hosts, so a blob with the same container and name may be
	// this one: Sweep must keep it.
	for path, n := strings.TrimPrefix(u.Path, "/"), 0; n < 2 && ref.Name == ""; n++ {
		var first string
		if first, path, _ = strings.Cut(path, "/"); first == t.container {
			ref.Name = path
		}
	}
	name, ok := strings.CutPrefix(u.Path, t.base.Path)
	version := u.Query().Has("snapshot") || u.Query().Has("versionid")
	if ok && naming.ValidBlob(name) && strings.EqualFold(u.Host, t.base.Host) && !version {
		ref.Container, ref.Name = t.container, name
	}
	return ref
}

// references returns the references of a row whose properties are those that property
// returns. The address of a blob counts if azp_blobs refers to another one, because
// other programs write only the address. replaced are the references that do not count for
// this reason. Nothing may delete their blobs while the row contains them, because a program
// without [Options.Addresses] may have written them after the address.
func (t *Table[T]) references(property func(name string) (any, bool)) (refs, replaced references, err error) {
	refs, replaced = references{}, references{}
	if value, ok := property(referencesProperty); ok {
		text, _ := value.(string) // "" is not JSON either: parseReferences returns the error
		if refs, err = parseReferences(text); err != nil {
			return nil, nil, err
		}
	}
	for i := range t.fields {
		f := &t.fields[i]
		if f.address == "" {
			continue
		}
		value, ok := property(f.address)
		old, inBlob := refs[f.property]
		text, isText := value.(string)
		switch {
		case !ok:
			continue
		case !isText:
			return nil, nil, ofProperty(f.property, fmt.Errorf("read references: %w", corrupt("the address is not text")))
		case text == "":
			delete(refs, f.property)
		default:
			if ref := t.refAt(text); !inBlob || ref.Name != old.Name { // not only the host has changed
				refs[f.property] = ref
			}
		}
		if inBlob && !refs.has(old.Name) {
			replaced[f.property] = old
		}
	}
	return refs, replaced, nil
}
