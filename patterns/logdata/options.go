package logdata

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns"
)

// MaxBlock is the size limit of an appended block, and so of a record with its
// newline: 4 MiB, the limit of all service versions.
// https://learn.microsoft.com/rest/api/storageservices/append-block
const MaxBlock = 4 << 20

// maxBlocks is the service's limit for the blocks of an append blob.
const maxBlocks = 50_000

// WriterOptions are the options of [NewWriter]. nil and the zero value mean the
// defaults.
type WriterOptions struct {
	// Format encodes the lines. Zero means [JSON]. Writers and readers of a service
	// must use the same Format.
	Format Format

	// Name identifies the Writer in the names of its blobs. Empty means a random name,
	// which is recommended. Writers with the same name do not harm each other, but
	// need more requests.
	Name string

	// A flush starts when the buffer contains FlushRecords records or FlushBytes bytes,
	// or when its oldest record is FlushAge old. Zero means 10,000 records, 1 MiB and
	// 2 s. FlushBytes is at most [MaxBlock]. A negative FlushAge disables flushes by
	// age.
	FlushRecords int
	FlushBytes   int
	FlushAge     time.Duration

	// Sync makes Write return only after its record is stored. Concurrent writes share
	// requests. Without Sync, buffered records are lost when the process dies.
	Sync bool

	// BufferBytes is the capacity of the buffer, at least [MaxBlock]. Zero means 16 MiB.
	// If the buffer is full because appends fail or are slower than writes, Write waits
	// until a flush has made room. With Drop it drops the record instead and counts it,
	// see [Writer.Dropped].
	BufferBytes int
	Drop        bool

	// BlobBytes is the size at which the Writer starts a new blob. Zero means 256 MiB.
	// It also starts a new blob after 50,000 blocks.
	BlobBytes int64

	// OnError, if not nil, receives the errors of background flushes. Records that a
	// flush could not store stay in the buffer and are tried again. OnError is called
	// from a goroutine of the Writer and must not call Flush or Close.
	OnError func(error)

	blocks int // limit for the blocks of a blob; tests set a lower one
}

// ReaderOptions are the options of [NewReader]. nil and the zero value mean the defaults.
type ReaderOptions struct {
	// Format decodes the lines. Zero means [JSON].
	Format Format

	// Parallel is how many parts of blobs are downloaded concurrently, at most 1,024.
	// Zero means 8.
	Parallel int

	// Slice is the length of time that is sorted in memory: a read holds the matching
	// entries of one Slice. It must be at least one second and divide an hour evenly.
	// Zero means one hour. A shorter Slice needs less memory and more requests.
	Slice time.Duration
}

// intOption is an option with a default and a range.
type intOption struct {
	name             string
	value            *int
	unset, low, high int
}

func (o intOption) resolve() error {
	if *o.value == 0 {
		*o.value = o.unset
	}
	if *o.value < o.low || *o.value > o.high {
		return fmt.Errorf("%w: %s is not between %d and %d", patterns.ErrBadOption, o.name, o.low, o.high)
	}
	return nil
}

func (o *WriterOptions) withDefaults() (WriterOptions, error) {
	r := *cmp.Or(o, &WriterOptions{})
	for _, n := range []intOption{
		{"FlushRecords", &r.FlushRecords, 10_000, 1, 1 << 30},
		{"FlushBytes", &r.FlushBytes, 1 << 20, 1, MaxBlock},
		{"BufferBytes", &r.BufferBytes, 16 << 20, MaxBlock, math.MaxInt},
		{"blocks", &r.blocks, maxBlocks, 1, maxBlocks},
	} {
		if err := n.resolve(); err != nil {
			return r, err
		}
	}
	if r.BlobBytes == 0 {
		r.BlobBytes = 256 << 20
	}
	if r.BlobBytes < 0 {
		return r, fmt.Errorf("%w: BlobBytes is negative", patterns.ErrBadOption)
	}
	if r.FlushAge == 0 {
		r.FlushAge = 2 * time.Second
	}
	if r.Format == nil {
		r.Format = JSON
	}
	if r.Name == "" {
		r.Name = strings.ToLower(rand.Text()[:13])
	}
	return r, checkName("Name", r.Name, false)
}

func (o *ReaderOptions) withDefaults() (ReaderOptions, error) {
	r := *cmp.Or(o, &ReaderOptions{})
	if err := (intOption{"Parallel", &r.Parallel, 8, 1, 1 << 10}).resolve(); err != nil {
		return r, err
	}
	if r.Slice == 0 {
		r.Slice = hour
	}
	if r.Slice < time.Second || hour%r.Slice != 0 {
		return r, fmt.Errorf("%w: Slice is below one second or does not divide an hour evenly", patterns.ErrBadOption)
	}
	if r.Format == nil {
		r.Format = JSON
	}
	return r, nil
}

// checkSource checks the container and service that every constructor takes.
func checkSource(client *container.Client, service string) error {
	if client == nil {
		return fmt.Errorf("container: %w", patterns.ErrNil)
	}
	return checkName("service", service, true)
}
