package eventual

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/calls"
	"github.com/azpatterns/azpatterns/internal/naming"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/internal/sweep"
	"github.com/azpatterns/azpatterns/patterns"
)

// Claims are the payloads of messages in a container, see [EnqueueOptions.Container]. It is safe
// for concurrent use. The methods of the zero Claims return [patterns.ErrNil].
type Claims struct{ container *container.Client }

// ClaimsOptions are the options of [NewClaims]. There are none yet.
type ClaimsOptions struct{}

// NewClaims returns the payloads in a container. It makes no request.
func NewClaims(c *container.Client, _ *ClaimsOptions) (*Claims, error) {
	if c == nil {
		return nil, azerr.Errorf("claims: container: %w", patterns.ErrNil)
	}
	return &Claims{c}, nil
}

const defaultSweepAge = 30 * 24 * time.Hour

// nextMarker returns the continuation token of a page of a list of blobs.
func nextMarker(page *container.ListBlobsFlatResponse) *string { return page.NextMarker }

// Sweep deletes the payloads that are old. Payloads without a message are left behind by a
// process that died after storing the payload and before adding the message, or after deleting the
// message and before deleting the payload, and by a try to store a payload that arrived
// after the payload was deleted. They do no harm. Other blobs of the container are not
// touched, nor is a blob that was changed since it was listed.
//
// OlderThan is the age from which payloads are deleted. It must be greater than the time that
// any message may wait, including the time in the poison queue: a message whose payload was
// deleted cannot be processed and becomes a poison message. Zero means 30 days. The report's Found
// are payloads, Done those that were deleted, and Bytes their size, and Skipped those that are not
// old enough, or were changed during the sweep. Partitions are refused.
//
// One request for each 5,000 blobs, and one for each payload deleted. Each of these is a step. After an
// error the report describes what was done until then.
func (cl *Claims) Sweep(ctx context.Context, opts *patterns.SweepOptions) (patterns.SweepReport, error) {
	ctx, run, err := sweep.Begin(ctx, "claims", opts, defaultSweepAge)
	switch {
	case cl == nil || cl.container == nil:
		err = fmt.Errorf("container: %w", patterns.ErrNil)
	case err == nil:
		err = run.OfBlobs()
	}
	if err == nil {
		err = cl.sweep(ctx, run)
	}
	if err != nil {
		err = azerr.Errorf("sweep claims: %w", err)
	}
	return run.Report(), err
}

// The position of a sweep is the name of the last payload that is done, a zero byte, and the
// continuation token of its page.
func (cl *Claims) sweep(ctx context.Context, run *sweep.Run) error {
	url, _, _ := strings.Cut(cl.container.URL(), "?") // without a signature
	position, err := run.From(url)
	if err != nil {
		return err
	}
	last, token, _ := strings.Cut(string(position), "\x00")
	at := func() (over bool) {
		if last == "" && token == "" {
			return run.At(url, nil)
		}
		return run.At(url, []byte(last+"\x00"+token))
	}
	list := &container.ListBlobsFlatOptions{Prefix: to.Ptr(claimPrefix)}
	if token != "" {
		list.Marker = &token
	}
	var clock calls.Clock
	for page, err := range pages.List(ctx, "list blobs", cl.container.NewListBlobsFlatPager(list), nextMarker) {
		if err != nil {
			return err
		}
		clock.ObserveDate(page.Date)
		if page.Segment == nil {
			return fmt.Errorf("list blobs: %w", patterns.ErrBadReply)
		}
		for _, b := range page.Segment.BlobItems {
			if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil || b.Properties.ETag == nil {
				return fmt.Errorf("list blobs: %w", patterns.ErrBadReply)
			}
			if !naming.IsGenerated(*b.Name, claimPrefix) || *b.Name <= last {
				continue // not a payload, or done
			}
			etag, err := azerr.ListedETag(string(*b.Properties.ETag))
			if err != nil {
				return fmt.Errorf("list blobs: %w", err)
			}
			old := clock.Age(*b.Properties.LastModified) >= run.OlderThan
			if old {
				if at() {
					return nil
				}
				if old, err = cl.delete(ctx, run, *b.Name, etag); err != nil {
					return err
				}
			}
			last = *b.Name
			run.Count(func(r *patterns.SweepReport) {
				if r.Found++; !old {
					r.Skipped++
					return
				}
				r.Done++
				r.Bytes += deref(b.Properties.ContentLength)
			})
		}
		if token = deref(page.NextMarker); token != "" && at() {
			return nil
		}
		run.Tick()
	}
	run.Complete()
	return nil
}

// delete deletes a payload, unless it was changed since it was listed.
func (cl *Claims) delete(ctx context.Context, run *sweep.Run, name, etag string) (deleted bool, err error) {
	if run.DryRun {
		return true, nil
	}
	err = deletePayload(ctx, cl.container, name, etag)
	if errors.Is(err, patterns.ErrConflict) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
		return false, nil
	}
	return err == nil, err
}
