package logdata

import (
	"crypto/rand"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/patterns"
)

// MaxBlock is the size of the largest block that is appended, and so of the largest
// record with its newline: 4 MiB, the service's limit in all versions.
// https://learn.microsoft.com/rest/api/storageservices/append-block
const MaxBlock = 4 << 20

// maxBlocks is how many blocks an append blob may have.
const maxBlocks = 50_000

// Options are the options of [NewWriter], [NewReader] and [NewAnalyticsReader], so
// that a program can have one for all. nil and the zero value mean the defaults.
type Options struct {
	// Format is that of the lines, [JSON] by default. Writers and readers of a
	// service must have the same.
	Format Format

	// Name is the writer's in the names of its blobs. The default is random, and the
	// best. Writers that share a name do not harm each other, but take more requests.
	Name string

	// A flush begins when the buffer has so many records or bytes, or its oldest
	// record this age: by default 10,000, 1 MiB and 2 s. FlushBytes is at most
	// [MaxBlock]. A negative FlushAge means never.
	FlushRecords int
	FlushBytes   int
	FlushAge     time.Duration

	// Sync is the durability mode: Write returns when its record is stored. Writes at
	// the same time share requests. Without it, what is in the buffer when the
	// process dies is lost.
	Sync bool

	// BufferBytes is how much the buffer takes, 16 MiB by default and at least
	// [MaxBlock]. When it is full, because storing fails or is slower than writing,
	// Write waits until a flush has made room; with Drop it drops the record instead
	// and counts it, see [Writer.Dropped].
	BufferBytes int
	Drop        bool

	// BlobBytes is the size at which a new blob is begun, 256 MiB by default. It is
	// begun before 50,000 blocks in any case.
	BlobBytes int64

	// OnError, if not nil, is called with the errors of flushes that nobody waits
	// for. What they could not store stays in the buffer and is tried again. It is
	// called from a goroutine of the Writer's, and must not call Flush or Close.
	OnError func(error)

	// Parallel is how many blobs are read at once, 8 by default.
	Parallel int

	// Slice is how much of the time is put in order at once: the matching entries of
	// one slice are in memory. It divides an hour evenly and is one by default.
	// Shorter ones take less memory and more requests.
	Slice time.Duration

	// BadLine, if not nil, is called with each line that is not of the format, in the
	// goroutine of the loop. nil skips the line; an error ends the reading, as every
	// bad line does without BadLine.
	BadLine func(*LineError) error

	blocks int // of a blob; tests have fewer
}

func (o *Options) withDefaults(client *container.Client, service string) (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	if client == nil {
		return r, fmt.Errorf("container: %w", patterns.ErrNil)
	}
	if err := checkName("service", service, true); err != nil {
		return r, err
	}
	for _, n := range []struct {
		name  string
		value *int
		unset int
		least int
		most  int
	}{
		{"FlushRecords", &r.FlushRecords, 10_000, 1, 1 << 30},
		{"FlushBytes", &r.FlushBytes, 1 << 20, 1, MaxBlock},
		{"BufferBytes", &r.BufferBytes, 16 << 20, MaxBlock, math.MaxInt},
		{"Parallel", &r.Parallel, 8, 1, 1 << 10},
		{"blocks", &r.blocks, maxBlocks, 1, maxBlocks},
	} {
		if *n.value == 0 {
			*n.value = n.unset
		}
		if *n.value < n.least || *n.value > n.most {
			return r, fmt.Errorf("%w: %s is not %d to %d", ErrBadOption, n.name, n.least, n.most)
		}
	}
	if r.BlobBytes == 0 {
		r.BlobBytes = 256 << 20
	}
	if r.FlushAge == 0 {
		r.FlushAge = 2 * time.Second
	}
	if r.Slice == 0 {
		r.Slice = hour
	}
	if r.Format == nil {
		r.Format = JSON
	}
	if r.Name == "" {
		r.Name = strings.ToLower(rand.Text()[:13])
	}
	switch {
	case r.BlobBytes < 0:
		return r, fmt.Errorf("%w: BlobBytes is negative", ErrBadOption)
	case r.Slice < time.Second || hour%r.Slice != 0:
		return r, fmt.Errorf("%w: Slice does not divide an hour into seconds evenly", ErrBadOption)
	}
	return r, checkName("Name", r.Name, false)
}
