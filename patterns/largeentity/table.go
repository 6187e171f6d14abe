package largeentity

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Table is a table of entities of type T whose large fields are stored in blobs. It is
// safe for concurrent use. It starts no goroutine that outlives a call, and does not
// have to be closed. Create it with [New]; the methods of the zero Table that make
// requests return [patterns.ErrNil].
type Table[T any] struct {
	table     *patterns.Table[T]
	blobs     *container.Client
	container string   // name
	base      *url.URL // of the container, with a slash at the end, without a signature
	fields    []field
	threshold int
	gzip      bool
	prefix    string
	grace     time.Duration
	outbox    patterns.OutboxQueue // nil for none
	tries     int
	blockSize int // bytes of a block of a stream
	maxBlocks int // of a stream
}

// Always is a value of [Options.Threshold]: every tagged field that is not zero is stored
// in a blob.
const Always = -1

// MaxThreshold is the largest [Options.Threshold], the largest size of one property.
const MaxThreshold = 64 << 10

const (
	defaultThreshold = 32 << 10
	defaultGrace     = 24 * time.Hour
	defaultTries     = 16

	maxTextInRow = 32 << 10 // UTF-16 code units of a string property; no more than its bytes in UTF-8
	maxPrefix    = 512      // characters, of the 1,024 of a blob's name

	maxPrefixSegments = 250 // path segments, of the 254 of a blob's name
)

// Options are the options of [New]. The zero value means the defaults.
type Options[T any] struct {
	// Key returns the key of a value, as [patterns.TableOptions.Key] does. It must not
	// depend on fields tagged blob.
	Key func(*T) (keys.Key, error)

	// Threshold is the size in bytes above which a tagged field is stored in a blob; a
	// smaller field is stored in the row. The maximum is [MaxThreshold]. Text and JSON
	// above 32 KiB are always stored in a blob. The threshold may change while the table
	// contains entities. Zero means 32 KiB; [Always] means that every field is stored in
	// a blob.
	Threshold int

	// Gzip compresses the blobs that become smaller by it. If the first 64 KiB of a value do
	// not become smaller by a sixteenth, the value is stored as it is. Compressed and
	// uncompressed blobs can be read with either setting.
	Gzip bool

	// Prefix is the beginning of the names of blobs, before the name of the table, of at
	// most 512 characters and 250 path segments. A path segment must not end with a dot.
	// Tables with the same name, in two accounts, that share a container need different
	// prefixes: [Table.Sweep] deletes the unreferenced blobs whose name begins with its
	// prefix and table name.
	Prefix string

	// Grace is the grace period: how long a blob is kept to which no entity refers, for
	// readers that have the old row. A writer that takes longer than half of it between
	// the upload of a blob, or its outbox message, and the write of the entity fails with
	// [ErrTooSlow]. All
	// programs that use the table must have the same value, or Sweep the longest of
	// them. Zero means 24 hours.
	Grace time.Duration

	// Outbox, if not nil, receives a message before each write that creates or drops
	// blobs, so that the blobs to which the entity does not refer are deleted one and a
	// half grace periods later, or two and a half if the entity was deleted. A worker
	// that calls [Table.Handle] does this, for example one of package eventual with
	// HandleOutbox. Such a write takes one more request, and Delete two more. Sweep then
	// only finds the blobs whose message was lost. If nil, only [Table.Sweep] deletes
	// blobs.
	Outbox patterns.OutboxQueue

	// Addresses is for tables in which a property contains the address of a blob, as in
	// the design guide. It maps the property of a tagged field to the property that contains
	// the address: {"Content": "Photo"} for a field tagged table:"Content,blob". Such a field
	// is stored in a blob whatever its size. T has no field for the address. See the
	// package documentation.
	Addresses map[string]string

	// Encryption has the keys of the fields with the option encrypted, which are stored in the row. A field that may be
	// stored in a blob cannot have it. nil is for a T without such fields. Table().Reencrypt brings them to a new key.
	Encryption *patterns.Encryption

	// Tries is the number of times that [Table.Update] and [Table.UpdateMeta] read and
	// write before they return [patterns.ErrConflict]. Zero means 16.
	Tries int
}

// New returns a Table that uses a table and a container. Both must exist before the first
// write; [Table.Create] creates them. New makes no request. Its error names the field of
// T that cannot be stored, or the option that is out of range. The memory for a reply is
// limited only if both clients were built with [patterns.Accelerate] or [patterns.LimitReplies].
//
// T is a struct that is mapped to a row as by [patterns.Table], with at least one field
// tagged
//
//	table:",blob"      or table:"Name,blob"
//
// A tagged field is a string, a byte slice, a [Stream], or any type that encoding/json
// supports. A field with the zero value is not stored, and is read as the zero value.
func New[T any](client *aztables.Client, blobs *container.Client, opts *Options[T]) (*Table[T], error) {
	t, err := newTable(client, blobs, *cmp.Or(opts, &Options[T]{}))
	if err != nil {
		return nil, fmt.Errorf("new table of large entities: %w", err)
	}
	return t, nil
}

func newTable[T any](client *aztables.Client, blobs *container.Client, o Options[T]) (*Table[T], error) {
	if blobs == nil {
		return nil, fmt.Errorf("container: %w", patterns.ErrNil)
	}
	address, err := url.Parse(blobs.URL())
	if err != nil {
		return nil, azerr.Errorf("the URL of the container cannot be parsed")
	}
	base := &url.URL{Scheme: address.Scheme, Host: address.Host, Path: strings.TrimSuffix(address.Path, "/") + "/"}
	t := &Table[T]{blobs: blobs, container: path.Base(address.Path), base: base,
		threshold: o.Threshold, gzip: o.Gzip, prefix: o.Prefix, grace: o.Grace, outbox: o.Outbox, tries: o.Tries,
		blockSize: defaultBlockSize, maxBlocks: defaultMaxBlocks}
	if t.table, err = patterns.NewTable(client, &patterns.TableOptions[T]{Key: o.Key, StampWrites: true, Encryption: o.Encryption}); err != nil {
		return nil, err
	}
	if t.fields, err = blobFields(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	if err := t.setAddresses(o.Addresses); err != nil {
		return nil, fmt.Errorf("option Addresses: %w", err)
	}
	switch {
	case t.gzip && len(o.Addresses) > 0:
		return nil, azerr.Errorf("option Gzip: programs that read a blob by its address do not decompress it")
	case t.threshold < Always || t.threshold > MaxThreshold:
		return nil, fmt.Errorf("option Threshold %d: %w", t.threshold, patterns.ErrTooLarge)
	case t.threshold == 0:
		t.threshold = defaultThreshold
	}
	if err := checkPrefix(t.prefix); err != nil {
		return nil, fmt.Errorf("option Prefix: %w", err)
	}
	if t.grace <= 0 {
		t.grace = defaultGrace
	}
	if t.tries <= 0 {
		t.tries = defaultTries
	}
	return t, nil
}

// checkPrefix returns an error for a prefix that no name of a blob can have, or that the
// service would change.
//
// https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata
func checkPrefix(prefix string) error {
	segments := strings.Split(prefix, "/")
	complete := segments[:len(segments)-1] // the name of the table continues the last one
	switch n := utf8.RuneCountInString(prefix); {
	case n > maxPrefix:
		return fmt.Errorf("%d characters: %w", n, patterns.ErrTooLarge)
	case len(complete) > maxPrefixSegments:
		return fmt.Errorf("%d path segments: %w", len(complete), patterns.ErrTooLarge)
	case !utf8.ValidString(prefix) || strings.ContainsFunc(prefix, notInBlobNames):
		return azerr.Errorf("it must be UTF-8 without control characters, noncharacters and backslashes")
	case slices.ContainsFunc(complete, func(s string) bool { return strings.HasSuffix(s, ".") }):
		return azerr.Errorf("no path segment may end with a dot")
	}
	return nil
}

func notInBlobNames(r rune) bool {
	return unicode.IsControl(r) || r == '\\' || r == 0xFFFE || r == 0xFFFF
}

// usable returns an error for a nil or zero Table.
func (t *Table[T]) usable() error {
	if t == nil || t.table == nil {
		return fmt.Errorf("table of large entities: %w", patterns.ErrNil)
	}
	return nil
}

// Table returns the underlying table, for queries and other operations that need no
// blobs. In its items, the fields that are stored in blobs are zero; [Table.FromRow] and
// [Table.Load] read them. Its Replace and Merge keep the references of the Item that they
// receive.
func (t *Table[T]) Table() *patterns.Table[T] { return t.table }

// Client returns the table client that was passed to New.
func (t *Table[T]) Client() *aztables.Client { return t.table.Client() }

// Container returns the container client that was passed to New.
func (t *Table[T]) Container() *container.Client { return t.blobs }

// Create creates the table and the container, if they do not exist. Two requests.
func (t *Table[T]) Create(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	if err := t.table.Create(ctx); err != nil {
		return err
	}
	_, err := t.blobs.Create(ctx, nil)
	if bloberror.HasCode(err, bloberror.ContainerAlreadyExists) {
		return nil
	}
	return blobError("create container", err)
}

// blobPrefix returns the beginning of the names of the table's blobs. It is not known
// before the first request, because the SDK does not expose the name of a table.
func (t *Table[T]) blobPrefix() (prefix string, ok bool) {
	address, ok := t.table.URL()
	if !ok {
		return "", false
	}
	return t.prefix + strings.ToLower(path.Base(address)) + "/", true
}
