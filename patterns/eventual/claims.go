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
		err = (&claimsSweep{Run: run, container: cl.container}).sweep(ctx)
	}
	if err != nil {
		err = azerr.Errorf("sweep claims: %w", err)
	}
	return run.Report(), err
}

// claimsSweep is a sweep in progress. Its position is the name of the last payload that is done, a
// zero byte, and the continuation token of its page.
type claimsSweep struct {
	*sweep.Run
	container   *container.Client
	url         string // of the container, without a signature
	last, token string
	clock       calls.Clock
}

func (s *claimsSweep) sweep(ctx context.Context) error {
	s.url, _, _ = strings.Cut(s.container.URL(), "?")
	position, err := s.From(s.url)
	if err != nil {
		return err
	}
	s.last, s.token, _ = strings.Cut(string(position), "\x00")
	list := &container.ListBlobsFlatOptions{Prefix: to.Ptr(claimPrefix)}
	if s.token != "" {
		list.Marker = to.Ptr(s.token)
	}
	for page, err := range pages.List(ctx, "list blobs", s.container.NewListBlobsFlatPager(list), nextMarker) {
		over := false
		if err == nil {
			over, err = s.page(ctx, &page)
		}
		if over || err != nil {
			return err
		}
		if s.token = deref(page.NextMarker); s.token != "" && s.at() {
			return nil
		}
		s.Tick()
	}
	s.Complete()
	return nil
}

// at records the position, and reports whether the sweep must stop there.
func (s *claimsSweep) at() (over bool) {
	if s.last == "" && s.token == "" {
		return s.At(s.url, nil)
	}
	return s.At(s.url, []byte(s.last+"\x00"+s.token))
}

func (s *claimsSweep) page(ctx context.Context, page *container.ListBlobsFlatResponse) (over bool, err error) {
	s.clock.ObserveDate(page.Date)
	if page.Segment == nil {
		return false, errBadList
	}
	for _, b := range page.Segment.BlobItems {
		if b == nil || b.Name == nil || b.Properties == nil || b.Properties.LastModified == nil || b.Properties.ETag == nil {
			return false, errBadList
		}
		if !naming.IsGenerated(*b.Name, claimPrefix) || *b.Name <= s.last {
			continue // not a payload, or done
		}
		if over, err := s.payload(ctx, *b.Name, b.Properties); over || err != nil {
			return over, err
		}
	}
	return false, nil
}

var errBadList = azerr.Errorf("list blobs: %w", azerr.ErrBadReply)

// payload deletes a payload that is old, and counts it.
func (s *claimsSweep) payload(ctx context.Context, name string, p *container.BlobProperties) (over bool, err error) {
	etag, err := azerr.ListedETag(string(*p.ETag))
	if err != nil {
		return false, fmt.Errorf("list blobs: %w", err)
	}
	old := s.clock.Age(*p.LastModified) >= s.OlderThan
	if old {
		if s.at() {
			return true, nil
		}
		if old, err = s.delete(ctx, name, etag); err != nil {
			return false, err
		}
	}
	s.last = name
	s.Count(func(r *patterns.SweepReport) {
		if r.Found++; !old {
			r.Skipped++
			return
		}
		r.Done++
		r.Bytes += deref(p.ContentLength)
	})
	return false, nil
}

// delete deletes a payload, unless it was changed since it was listed.
func (s *claimsSweep) delete(ctx context.Context, name, etag string) (deleted bool, err error) {
	if s.DryRun {
		return true, nil
	}
	err = deletePayload(ctx, s.container, name, etag)
	if errors.Is(err, patterns.ErrConflict) && !errors.Is(err, patterns.ErrOutcomeUnknown) {
		return false, nil
	}
	return err == nil, err
}
