package largeentity

import (
	"context"
	"fmt"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/query"
)

// Sweep deletes the blobs to which no entity refers: those of entities that were replaced
// or deleted, and of writers that crashed. This takes two sweeps. The first one that finds
// the blob older than OlderThan marks it. A later one deletes it, if the mark is
// older than OlderThan and still no entity refers to the blob. Therefore a reader
// has at least so long to read the blobs of a row that it has read. A blob to
// which a slow writer is about to refer is younger than [Options.Grace], or the writer
// fails with [ErrTooSlow]. All ages are measured by the service's clock.
//
// Zero OlderThan means Options.Grace, and less than that is [patterns.ErrBadOption]. So are
// Partitions. The report's Found are the blobs of this table, Done those that were marked or deleted, Marked
// the former, Bytes the size of the latter, and Skipped all other blobs.
//
// Sweep may be canceled, and may run at any time and concurrently. Run it about once in a
// grace period.
//
// One request for each 5,000 blobs. If any blob is old enough, Sweep also scans one
// property of the whole table, one request for each 1,000 rows, and makes one request for
// each blob that it marks or deletes. It keeps the names of the blobs that are old enough
// in memory. If references cannot be read, Sweep returns [ErrCorrupt] and deletes nothing.
//
// Each call scans the table once, and with a Deadline it lists blobs for half of that at most. A step is a
// page of the list with what its blobs need. The first one is always completed, with the scan, so a Deadline should be
// several times as long as a scan.
func (t *Table[T]) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	if err := t.usable(); err != nil {
		return patterns.SweepReport{}, err
	}
	ctx, run, err := sweep.Begin(ctx, "blobs", opts, t.grace)
	if err == nil {
		err = run.OfBlobs()
	}
	if err == nil && run.OlderThan < t.grace {
		err = azerr.Errorf("%w: SweepOptions.OlderThan: %v is less than Options.Grace, which is %v", patterns.ErrBadOption, run.OlderThan, t.grace)
	}
	if err == nil {
		err = t.sweep(ctx, &sweeper{Run: run, container: t.blobs, orphans: map[string]orphan{}})
	}
	if err != nil {
		err = fmt.Errorf("sweep: %w", err)
	}
	return run.Report(), err
}

func (t *Table[T]) sweep(ctx context.Context, s *sweeper) error {
	prefix, ok := t.blobPrefix()
	if !ok {
		// Any request determines the table's name; the row need not exist.
		_, err := t.table.Get(ctx, keys.Key{Partition: "azp", Row: "azp"})
		if prefix, ok = t.blobPrefix(); !ok {
			return err
		}
	}
	s.prefix, s.url = prefix, t.base.String()+prefix
	// List the blobs before reading the rows: a blob that is old enough and unreferenced
	// now does not become referenced while the rows are read.
	if err := s.listBlobs(ctx); err != nil {
		return err
	}
	if len(s.orphans) > 0 {
		if err := t.removeReferenced(ctx, s); err != nil {
			return err
		}
	}
	for _, p := range s.pages {
		if over, err := s.process(ctx, p); over || err != nil {
			return err
		}
	}
	return nil
}

// sweeper is one run of Sweep. Its position is the continuation token of a page of the list.
type sweeper struct {
	*sweep.Run
	container   *container.Client
	prefix, url string            // of the blobs
	orphans     map[string]orphan // by name: old enough, and no reference found yet
	pages       []listedPage
}

// listedPage is a page of the list of blobs.
type listedPage struct {
	blobs int      // of the table
	old   []string // the names of those that are older than the grace period
	next  string   // the continuation token
}

// listBlobs finds the blobs that are older than the grace period.
func (s *sweeper) listBlobs(ctx context.Context) error {
	position, err := s.From(s.url)
	if err != nil {
		return err
	}
	opts := &container.ListBlobsFlatOptions{Prefix: &s.prefix, Include: container.ListBlobsInclude{Metadata: true}}
	if position != nil {
		opts.Marker = to.Ptr(string(position))
	}
	for page, err := range pages.List(ctx, "list blobs", s.container.NewListBlobsFlatPager(opts), nextMarker) {
		if err != nil {
			return err
		}
		if err := s.add(&page); err != nil {
			return fmt.Errorf("list blobs: %w", err)
		}
		if s.Tick(); s.Past(s.Deadline / 2) {
			return nil
		}
	}
	return nil
}

// add adds the blobs of a page.
func (s *sweeper) add(page *container.ListBlobsFlatResponse) error {
	if page.Date == nil || page.Segment == nil {
		return patterns.ErrBadReply
	}
	var p listedPage
	if page.NextMarker != nil {
		p.next = *page.NextMarker
	}
	limit := page.Date.Add(-s.OlderThan)
	for _, b := range page.Segment.BlobItems {
		if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil || b.Properties.ETag == nil {
			return patterns.ErrBadReply
		}
		if !naming.IsGenerated(*b.Name, s.prefix) {
			continue // not created by this package
		}
		p.blobs++
		if !b.Properties.LastModified.Before(limit) {
			continue
		}
		text, err := azerr.ListedETag(string(*b.Properties.ETag))
		if err != nil {
			return err
		}
		etag := azcore.ETag(text)
		o := orphan{etag: &etag, marked: isMarked(b.Metadata)}
		if b.Properties.ContentLength != nil {
			o.size = *b.Properties.ContentLength
		}
		s.orphans[*b.Name] = o
		p.old = append(p.old, *b.Name)
	}
	s.pages = append(s.pages, p)
	return nil
}

// nextMarker returns the continuation token of a page of a list of blobs.
func nextMarker(page *container.ListBlobsFlatResponse) *string { return page.NextMarker }

// removeReferenced removes the blobs to which a row refers from s.orphans. It returns an
// error if the references of a row cannot be read, because they might be to any blob.
func (t *Table[T]) removeReferenced(ctx context.Context, s *sweeper) error {
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
	read := 0
	for row, err := range rows.Query(ctx, query.Filter{}, &patterns.QueryOptions{Select: selected, Allow: query.TableScan}) {
		if err != nil {
			return err
		}
		if read++; read%1000 == 0 {
			s.Tick()
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
func (s *sweeper) keep(ctx context.Context, ref BlobRef) error {
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

// process deletes or marks the blobs of a page to which no row refers. over reports whether the
// sweep must stop behind the page.
func (s *sweeper) process(ctx context.Context, p listedPage) (over bool, err error) {
	rest := p.blobs
	for _, name := range p.old {
		if o, ok := s.orphans[name]; ok {
			if err := s.deleteOrMark(ctx, name, o); err != nil {
				return false, err
			}
			rest--
		}
	}
	over = s.At(s.url, []byte(p.next)) || p.next == ""
	s.Count(func(r *patterns.SweepReport) { r.Found += rest; r.Skipped += rest })
	return over, nil
}

// deleteOrMark deletes a blob that is marked, and marks one that is not.
func (s *sweeper) deleteOrMark(ctx context.Context, name string, o orphan) (err error) {
	switch {
	case s.DryRun:
	case o.marked:
		_, err = o.delete(ctx, s.container, name)
	default:
		err = o.mark(ctx, s.container, name)
	}
	if err != nil {
		return err
	}
	s.Count(func(r *patterns.SweepReport) {
		r.Found++
		r.Done++
		if o.marked {
			r.Bytes += o.size
		} else {
			r.Marked++
		}
	})
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
	calls.CountRequest(ctx)
	_, err := c.NewBlobClient(name).SetMetadata(ctx, metadata, &blob.SetMetadataOptions{AccessConditions: o.ifUnchanged()})
	return changeError("mark blob", err)
}

// delete deletes the blob. It reports whether the blob is gone: it is not if another process
// has changed it.
func (o orphan) delete(ctx context.Context, c *container.Client, name string) (gone bool, err error) {
	calls.CountRequest(ctx)
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
