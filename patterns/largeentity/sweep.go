package largeentity

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// SweepOptions are the options of [Table.Sweep]. The zero value means the defaults.
type SweepOptions struct {
	// Grace is how long a blob without an entity is kept. If it is shorter than
	// [Options.Grace], Sweep returns [ErrGraceTooShort]. Zero means [Options.Grace].
	Grace time.Duration

	// DryRun makes Sweep report what it would do, without changing anything.
	DryRun bool

	// Progress, if not nil, is called in the caller's goroutine after each page that was
	// read and each blob that was marked or deleted.
	Progress func(SweepReport)
}

// SweepReport is what a sweep has done so far.
type SweepReport struct {
	Blobs   int   // blobs of this table in the container
	Rows    int   // rows read; 0 if no blob was old enough
	Marked  int   // blobs without an entity that were marked, to be deleted after the grace period
	Deleted int   // blobs deleted
	Bytes   int64 // total size of the deleted blobs
}

// Sweep deletes the blobs to which no entity refers: those of entities that were replaced
// or deleted, and of writers that crashed. This takes two sweeps. The first one that finds
// the blob older than the grace period marks it. A later one deletes it, if the mark is
// older than the grace period and still no entity refers to the blob. Therefore a reader
// has at least the grace period to read the blobs of a row that it has read. A blob to
// which a slow writer is about to refer is younger than the grace period, or the writer
// fails with [ErrTooSlow]. All ages are measured by the service's clock.
//
// Sweep may be canceled, and may run at any time and concurrently. Run it about once in a
// grace period.
//
// One request for each 5,000 blobs. If any blob is old enough, Sweep also scans one
// property of the whole table, one request for each 1,000 rows, and makes one request for
// each blob that it marks or deletes. It keeps the names of the blobs that are old enough
// in memory. If references cannot be read, Sweep returns [ErrCorrupt] and deletes nothing.
func (t *Table[T]) Sweep(ctx context.Context, opts *SweepOptions) (SweepReport, error) {
	if err := t.usable(); err != nil {
		return SweepReport{}, err
	}
	s := sweep{container: t.blobs}
	if opts != nil {
		s.SweepOptions = *opts
	}
	if s.Grace == 0 {
		s.Grace = t.grace
	}
	if s.Grace < t.grace {
		return s.report, fmt.Errorf("sweep: %w", ErrGraceTooShort)
	}
	err := t.sweep(ctx, &s)
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return s.report, err
}

func (t *Table[T]) sweep(ctx context.Context, s *sweep) error {
	prefix, ok := t.blobPrefix()
	if !ok {
		// Any request determines the table's name; the row need not exist.
		_, err := t.table.Get(ctx, keys.Key{Partition: "azp", Row: "azp"})
		if prefix, ok = t.blobPrefix(); !ok {
			return err
		}
	}
	// List the blobs before reading the rows: a blob that is old enough and unreferenced
	// now does not become referenced while the rows are read.
	if err := s.listBlobs(ctx, prefix); err != nil || len(s.orphans) == 0 {
		return err
	}
	if err := t.removeReferenced(ctx, s); err != nil {
		return err
	}
	for name, o := range s.orphans {
		if err := s.deleteOrMark(ctx, name, o); err != nil {
			return err
		}
	}
	return nil
}

// sweep is one run of Sweep.
type sweep struct {
	SweepOptions
	container *container.Client
	orphans   map[string]orphan // by name: old enough, and no reference found yet
	report    SweepReport
}

func (s *sweep) progress() {
	if s.Progress != nil {
		s.Progress(s.report)
	}
}

// listBlobs finds the blobs that are older than the grace period.
func (s *sweep) listBlobs(ctx context.Context, prefix string) error {
	s.orphans = map[string]orphan{}
	pager := s.container.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
		Prefix: &prefix, Include: container.ListBlobsInclude{Metadata: true},
	})
	for page, err := range pages.List(ctx, "list blobs", pager, nextMarker) {
		if err != nil {
			return err
		}
		if page.Date == nil || page.Segment == nil {
			return fmt.Errorf("list blobs: %w", patterns.ErrBadReply)
		}
		limit := page.Date.Add(-s.Grace)
		for _, b := range page.Segment.BlobItems {
			if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil || b.Properties.ETag == nil {
				return fmt.Errorf("list blobs: %w", patterns.ErrBadReply)
			}
			if !naming.IsGenerated(*b.Name, prefix) {
				continue // not created by this package
			}
			s.report.Blobs++
			if !b.Properties.LastModified.Before(limit) {
				continue
			}
			text, err := azerr.ListedETag(string(*b.Properties.ETag))
			if err != nil {
				return fmt.Errorf("list blobs: %w", err)
			}
			etag := azcore.ETag(text)
			o := orphan{etag: &etag, marked: isMarked(b.Metadata)}
			if b.Properties.ContentLength != nil {
				o.size = *b.Properties.ContentLength
			}
			s.orphans[*b.Name] = o
		}
		s.progress()
	}
	return nil
}

// nextMarker returns the continuation token of a page of a list of blobs.
func nextMarker(page *container.ListBlobsFlatResponse) *string { return page.NextMarker }

// removeReferenced removes the blobs to which a row refers from s.orphans. It returns an
// error if the references of a row cannot be read, because they might be to any blob.
func (t *Table[T]) removeReferenced(ctx context.Context, s *sweep) error {
	rows, err := patterns.NewTable(t.Client(), &patterns.TableOptions[map[string]any]{Keyless: true})
	if err != nil {
		return err
	}
	selected := []string{referencesProperty}
	for i := range t.fields {
		if address := t.fields[i].address; address != "" {
			selected = append(selected, address)
		}
	}
	for row, err := range rows.Query(ctx, query.Filter{}, &patterns.QueryOptions{Select: selected, Allow: query.TableScan}) {
		if err != nil {
			return err
		}
		if s.report.Rows++; s.report.Rows%1000 == 0 {
			s.progress()
		}
		refs, replaced, err := t.references(func(name string) (any, bool) {
			if value, ok := row.Value[name]; ok {
				return value, true
			}
			return row.Property(name)
		})
		if err != nil {
			return err
		}
		for _, ref := range append(refs.list(), replaced.list()...) {
			if err := s.keep(ctx, ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep removes the blob from s.orphans. The container of ref is not compared: its account may
// have other addresses.
func (s *sweep) keep(ctx context.Context, ref BlobRef) error {
	o, ok := s.orphans[ref.Name]
	if !ok {
		return nil
	}
	delete(s.orphans, ref.Name)
	if !o.marked || s.DryRun {
		return nil
	}
	return o.unmark(ctx, s.container, ref.Name) // for example after the table was restored from a backup
}

// deleteOrMark deletes a blob that is marked, and marks one that is not.
func (s *sweep) deleteOrMark(ctx context.Context, name string, o orphan) (err error) {
	switch {
	case s.DryRun:
	case o.marked:
		_, err = o.delete(ctx, s.container, name)
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

// orphanMark is the metadata of a blob that was found without an entity. The time at which
// it was found is the service's time of the last change to the blob.
const orphanMark = "azp_orphan"

// isMarked reports whether metadata contains the mark. Proxies may change the case of
// header names.
func isMarked(metadata map[string]*string) bool {
	for name := range metadata {
		if strings.EqualFold(name, orphanMark) {
			return true
		}
	}
	return false
}

// orphan is a blob without an entity that has not changed for the grace period. Its
// methods do nothing if the blob has changed since, or does not exist.
type orphan struct {
	etag   *azcore.ETag
	size   int64
	marked bool
}

func (o orphan) mark(ctx context.Context, c *container.Client, name string) error {
	return o.setMetadata(ctx, c, name, map[string]*string{orphanMark: to.Ptr("1")})
}

func (o orphan) unmark(ctx context.Context, c *container.Client, name string) error {
	return o.setMetadata(ctx, c, name, nil)
}

func (o orphan) setMetadata(ctx context.Context, c *container.Client, name string, metadata map[string]*string) error {
	_, err := c.NewBlobClient(name).SetMetadata(ctx, metadata, &blob.SetMetadataOptions{AccessConditions: o.ifUnchanged()})
	return changeError("mark blob", err)
}

// delete deletes the blob. It reports whether the blob is gone: it is not if another process
// has changed it.
func (o orphan) delete(ctx context.Context, c *container.Client, name string) (gone bool, err error) {
	_, err = c.NewBlobClient(name).Delete(ctx, &blob.DeleteOptions{
		DeleteSnapshots: to.Ptr(blob.DeleteSnapshotsOptionTypeInclude), AccessConditions: o.ifUnchanged(),
	})
	changed := bloberror.HasCode(err, bloberror.ConditionNotMet)
	err = changeError("delete blob", err)
	return err == nil && !changed, err
}

func (o orphan) ifUnchanged() *blob.AccessConditions {
	return &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: o.etag}}
}

// changeError returns the error of a conditional request to change a blob. It is nil if
// another process, or an earlier try of the request, has changed or deleted the blob.
func changeError(op string, err error) error {
	if bloberror.HasCode(err, bloberror.BlobNotFound, bloberror.ConditionNotMet) {
		return nil
	}
	return blobError(op, err)
}
