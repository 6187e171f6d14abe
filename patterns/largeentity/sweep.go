package largeentity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// SweepOptions are the options of [Table.Sweep]. nil and the zero value mean the
// defaults.
type SweepOptions struct {
	// Grace is how long a blob without an entity is kept, at least that of the Table
	// ([ErrGrace]). Zero means that of the Table.
	Grace time.Duration

	// DryRun changes nothing, and reports what would be done.
	DryRun bool

	// Progress, if not nil, is called after each page that was read and each blob that
	// was marked or deleted, in the goroutine of the caller.
	Progress func(SweepReport)
}

// SweepReport says what a sweep has done so far.
type SweepReport struct {
	Blobs   int   // of this table, seen in the container
	Rows    int   // seen in the table; 0 where no blob was old enough
	Marked  int   // blobs without an entity, to be deleted after the grace time
	Deleted int   // blobs deleted
	Bytes   int64 // that they took
}

// Sweep deletes the blobs that no entity refers to: those of entities that were
// replaced or deleted, and of writers that died. A blob goes in two steps: the first
// sweep that finds it, older than the grace time, marks it; a later one deletes it, if
// it has been marked for the grace time and still nobody refers to it. So a reader has
// at least the grace time to read what an entity referred to when it was read. A
// blob that a slow writer is about to refer to is younger than the grace time, or else
// the writer fails: see [ErrTooSlow]. Ages are by the service's clock.
//
// It may run at any time, more than once at a time, and be broken off. Run it about
// once in a grace time.
//
// One request for each 5,000 blobs; where any is old enough, one for each 1,000 rows
// of the table, which is scanned whole, for one property; and one for each blob marked
// or deleted. Memory holds the names of the blobs that are old enough.
func (t *Table[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	s := sweep{container: t.blobs}
	if opts != nil {
		s.SweepOptions = *opts
	}
	if s.Grace == 0 {
		s.Grace = t.grace
	}
	if s.Grace < t.grace {
		return s.report, fmt.Errorf("sweep: %w", ErrGrace)
	}
	err := t.sweep(ctx, &s)
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return s.report, err
}

func (t *Table[T]) sweep(ctx context.Context, s *sweep) error {
	folder, ok := t.folder()
	if !ok {
		// Any request tells the table's name; the row need not exist.
		_, err := t.table.Get(ctx, keys.Key{Partition: "azp", Row: "azp"})
		if folder, ok = t.folder(); !ok {
			return err
		}
	}
	// Blobs first: what is found without a row was so before the rows are read, and no
	// row comes to refer to it while they are.
	if err := s.list(ctx, folder); err != nil || len(s.old) == 0 {
		return err
	}
	rows, err := patterns.NewTable(t.Client(), &patterns.TableOptions[referring]{Keyless: true})
	if err != nil {
		return err
	}
	if err := s.keepReferred(ctx, rows, t.container); err != nil {
		return err
	}
	for name, o := range s.old {
		if err := s.orphan(ctx, name, o); err != nil {
			return err
		}
	}
	return nil
}

// referring is a row of any type, as far as a sweep is concerned.
type referring struct {
	Blobs string `table:"azp_blobs,reserved"`
}

// sweep is one run.
type sweep struct {
	SweepOptions
	container *container.Client
	old       map[string]oldBlob // by name: those that may be orphans
	report    SweepReport
}

func (s *sweep) progress() {
	if s.Progress != nil {
		s.Progress(s.report)
	}
}

// list finds the blobs that are old enough.
func (s *sweep) list(ctx context.Context, folder string) error {
	s.old = map[string]oldBlob{}
	pager := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
		Prefix: &folder, Include: container.ListBlobsInclude{Metadata: true},
	})
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return fail("list blobs", "", err)
		}
		if page.Date == nil || page.Segment == nil {
			return fail("list blobs", "", patterns.ErrBadReply)
		}
		limit := page.Date.Add(-s.Grace)
		for _, b := range page.Segment.BlobItems {
			if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil || b.Properties.ETag == nil {
				return fail("list blobs", "", patterns.ErrBadReply)
			}
			if uuid.Validate(strings.TrimPrefix(*b.Name, folder)) != nil {
				continue // somebody else's
			}
			s.report.Blobs++
			if !b.Properties.LastModified.Before(limit) {
				continue
			}
			o := oldBlob{etag: b.Properties.ETag, marked: isMarked(b.Metadata)}
			if b.Properties.ContentLength != nil {
				o.size = *b.Properties.ContentLength
			}
			s.old[*b.Name] = o
		}
		s.progress()
	}
	return nil
}

// keepReferred takes the blobs that a row refers to off the list. A row whose
// references cannot be read ends the sweep: what it refers to is not known.
func (s *sweep) keepReferred(ctx context.Context, rows *patterns.Table[referring], own string) error {
	for row, err := range rows.Query(ctx, query.Filter{}, &patterns.QueryOptions{
		Select: []string{referencesName}, Allow: query.TableScan,
	}) {
		if err != nil {
			return err
		}
		if s.report.Rows++; s.report.Rows%1000 == 0 {
			s.progress()
		}
		if row.Value.Blobs == "" {
			continue
		}
		refs, err := parseReferences(row.Value.Blobs)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			o, ok := s.old[ref.Name]
			if !ok || ref.Container != own {
				continue
			}
			delete(s.old, ref.Name)
			if o.marked && !s.DryRun { // as after the table was restored from a copy
				if err := o.set(ctx, s.container, ref.Name, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// orphan marks or deletes a blob without an entity, unless it has changed meanwhile.
func (s *sweep) orphan(ctx context.Context, name string, o oldBlob) (err error) {
	switch {
	case s.DryRun:
	case o.marked:
		err = o.delete(ctx, s.container, name)
	default:
		err = o.mark(ctx, s.container, name)
	}
	switch {
	case err != nil:
		return err
	case o.marked:
		s.report.Deleted++
		s.report.Bytes += o.size
	default:
		s.report.Marked++
	}
	s.progress()
	return nil
}
