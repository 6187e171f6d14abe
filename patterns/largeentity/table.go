package largeentity

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
)

// Table is a table whose entities are values of T, the large fields of which stand in
// blobs. It may be used by any number of goroutines; it starts none that outlives a
// call, and needs no closing.
type Table[T any] struct {
	table     *patterns.Table[T]
	blobs     *container.Client
	container string
	fields    []field
	threshold int
	gzip      bool
	prefix    string
	grace     time.Duration
	outbox    patterns.OutboxQueue // nil for none
	tries     int
	block     int // bytes of a block of a stream
	blocks    int // that one may have
}

// Always, as [Options.Threshold], puts every tagged field into a blob that is not zero.
const Always = -1

// MaxThreshold is the largest [Options.Threshold]: what one property of a row can hold.
const MaxThreshold = 64 << 10

const (
	defaultThreshold = 32 << 10
	defaultGrace     = 24 * time.Hour
	defaultTries     = 16

	maxText   = 32 << 10 // UTF-16 units of a string property, of which a byte makes one at most
	maxPrefix = 512      // characters, of the 1,024 that the name of a blob can have
)

// Options are the options of [New]. nil and the zero value mean the defaults.
type Options[T any] struct {
	// Key gives a value's key, as [patterns.TableOptions.Key] does. It must not look at
	// fields tagged blob.
	Key func(*T) (keys.Key, error)

	// Threshold is the size in bytes above which a field goes to a blob, up to
	// [MaxThreshold]; below, it is a property of the row. Text and JSON go to a blob
	// above 32 KiB in any case. Zero means 32 KiB, [Always] always. It may change
	// while the table has entities.
	Threshold int

	// Gzip compresses blobs that become smaller by it. Blobs written without, or with
	// it, stay readable either way.
	Gzip bool

	// Prefix begins the names of blobs, before the name of the table. Tables of the same
	// name, in two accounts, that share a container need different ones: [Table.Sweep]
	// deletes what has its prefix and table in its name and nobody refers to. Up to 512
	// characters.
	Prefix string

	// Grace is how long a blob that no entity refers to is kept, for readers under
	// way. A writer that takes longer than half of it between the upload of a blob and
	// the write of the entity fails with [ErrTooSlow]. It must be the same for all
	// programs that use the table, or the longest of them given to Sweep. Zero means 24
	// hours.
	Grace time.Duration

	// Outbox, if set, is told of every write before it happens, so that the blobs that an
	// entity refers to no longer, or never came to refer to, are deleted one and a half
	// grace times later, or two and a half where the entity is gone: by a worker that
	// calls [Table.Handle], such as one of package eventual with HandleOutbox. It takes
	// one request more for each write that creates or drops blobs, and for Delete two.
	// Without it [Table.Sweep] alone deletes blobs; with it Sweep finds what a lost queue
	// leaves.
	Outbox patterns.OutboxQueue

	// Tries is how often [Table.Update] and [Table.UpdateMeta] read and write before
	// they give up with [patterns.ErrConflict]. Zero means 16.
	Tries int
}

// New makes a Table on a table and a container, which must exist before the first
// write; [Table.Create] makes both. New makes no request. The error names the field
// of T that cannot be stored, or the option that is out of range.
//
// T is a struct, mapped to a row as [patterns.Table] says, with one or more fields
// tagged
//
//	table:",blob"      or table:"Name,blob"
//
// which are a string, a byte slice, a [Stream], or of any type that encoding/json
// takes. A zero field is not stored, and zero when read.
func New[T any](client *aztables.Client, blobs *container.Client, opts *Options[T]) (*Table[T], error) {
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	t, err := newTable(client, blobs, o)
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
		return nil, errors.New("the address of the container cannot be read")
	}
	t := &Table[T]{blobs: blobs, container: path.Base(address.Path),
		threshold: o.Threshold, gzip: o.Gzip, prefix: o.Prefix, grace: o.Grace, outbox: o.Outbox, tries: o.Tries, block: blockSize, blocks: maxBlocks}
	if t.table, err = patterns.NewTable(client, &patterns.TableOptions[T]{Key: o.Key, StampWrites: true}); err != nil {
		return nil, err
	}
	if t.fields, err = fieldsOf(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	switch {
	case t.threshold < Always || t.threshold > MaxThreshold:
		return nil, fmt.Errorf("option Threshold %d: %w", t.threshold, patterns.ErrTooLarge)
	case t.threshold == 0:
		t.threshold = defaultThreshold
	}
	if n := utf8.RuneCountInString(t.prefix); n > maxPrefix {
		return nil, fmt.Errorf("option Prefix of %d characters: %w", n, patterns.ErrTooLarge)
	}
	if !utf8.ValidString(t.prefix) || strings.ContainsFunc(t.prefix, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
		return nil, errors.New("option Prefix: control characters and backslashes are not allowed in it")
	}
	if t.grace <= 0 {
		t.grace = defaultGrace
	}
	if t.tries <= 0 {
		t.tries = defaultTries
	}
	return t, nil
}

// Table is the table under it, for queries and all else that needs no blobs: fields
// that stand in blobs are zero there, [Table.Meta] and [Table.Load] read them. Its
// Replace and Merge keep the references of the Item that they were given.
func (t *Table[T]) Table() *patterns.Table[T] { return t.table }

// Client gives back the table client that New took.
func (t *Table[T]) Client() *aztables.Client { return t.table.Client() }

// Container gives back the container client that New took.
func (t *Table[T]) Container() *container.Client { return t.blobs }

// Create creates the table and the container; what exists already is fine. Two requests.
func (t *Table[T]) Create(ctx context.Context) error {
	if err := t.table.Create(ctx); err != nil {
		return err
	}
	_, err := t.blobs.Create(ctx, nil)
	if err = fail("create container", "", err); hasCode(err, "ContainerAlreadyExists") {
		return nil
	}
	return err
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// folder begins the names of the table's blobs. The SDK does not tell the name of a
// table before the first request.
func (t *Table[T]) folder() (name string, ok bool) {
	address, ok := t.table.URL()
	if !ok {
		return "", false
	}
	return t.prefix + strings.ToLower(path.Base(address)) + "/", true
}
