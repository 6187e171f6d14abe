package logdata

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/azpatterns/azpatterns/internal/azerr"
	"github.com/azpatterns/azpatterns/internal/pages"
	"github.com/azpatterns/azpatterns/patterns"
)

const (
	hour = time.Hour
	day  = 24 * hour
	// maxName leaves room for the hour and the number in the 1,024 characters of a blob
	// name.
	maxName = 400
)

// hourOf returns the start of the hour that contains t.
func hourOf(t time.Time) time.Time {
	return t.UTC().Truncate(hour)
}

func dayOf(t time.Time) time.Time {
	return t.UTC().Truncate(day)
}

// dayPrefix returns the prefix of the names of a day's blobs.
func dayPrefix(service string, t time.Time) string {
	return service + "/" + t.Format("2006/01/02/")
}

// hourPrefix returns the prefix of the names of an hour's blobs.
func hourPrefix(service string, t time.Time) string {
	return service + "/" + t.Format("2006/01/02/15") + "00/"
}

func blobName(service string, h time.Time, writer string, number int) string {
	return fmt.Sprintf("%s%s-%06d.log", hourPrefix(service, h), writer, number)
}

// maxDigits is more than the number of any blob of an hour has.
const maxDigits = 9

// numberOf returns the number in a name that blobName returned. prefix is everything
// before the number.
func numberOf(name, prefix string) (int, bool) {
	digits, ok := strings.CutSuffix(strings.TrimPrefix(name, prefix), ".log")
	if !ok || len(digits) < 6 || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil
}

// hourOfName returns the hour in the name of a blob of the service. It accepts every
// file name that ends in .log after the prefix of an hour.
func hourOfName(service, name string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(name, service+"/")
	const form = "2006/01/02/1504/"
	if !ok || len(rest) <= len(form) || strings.Contains(rest[len(form):], "/") || !strings.HasSuffix(rest, ".log") {
		return time.Time{}, false
	}
	t, err := time.Parse(form, rest[:len(form)])
	return t, err == nil && t.Minute() == 0 && t.Year() > 0
}

// checkName returns an error if name cannot be part of a blob name. A service may have
// several segments.
func checkName(what, name string, segments bool) error {
	bad := func(reason string) error { return fmt.Errorf("%w: %s %s", patterns.ErrBadOption, what, reason) }
	if name == "" || len(name) > maxName {
		return bad(fmt.Sprintf("is not 1 to %d bytes long", maxName))
	}
	if !utf8.ValidString(name) {
		return bad("is not UTF-8")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return bad("contains a backslash or a control character")
	}
	if !segments && strings.Contains(name, "/") {
		return bad("contains a slash")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasSuffix(part, ".") {
			return bad("has an empty segment or one that ends in a dot")
		}
	}
	return nil
}

// listPages lists the blobs whose names start with prefix, up to 5,000 in each request.
func listPages(ctx context.Context, client *container.Client, prefix string, metadata bool) iter.Seq2[[]*container.BlobItem, error] {
	return func(yield func([]*container.BlobItem, error) bool) {
		pager := client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{
			Prefix:  &prefix,
			Include: container.ListBlobsInclude{Metadata: metadata},
		})
		for page, err := range pages.List(ctx, "list", pager, nextMarker) {
			if err != nil {
				yield(nil, causeOr(ctx, err))
				return
			}
			if page.Segment == nil {
				yield(nil, fmt.Errorf("list: %w", azerr.ErrBadReply))
				return
			}
			if !yield(page.Segment.BlobItems, nil) {
				return
			}
		}
	}
}

// nextMarker returns the continuation token of a page of a list of blobs.
func nextMarker(page *container.ListBlobsFlatResponse) *string { return page.NextMarker }

// listedBlob is a blob of the log, as it was listed.
type listedBlob struct {
	name     string
	hour     time.Time
	size     int64
	metadata map[string]*string
}

// listing lists the blobs of each hour of [from, to). It lists each hour once, and a
// whole day in one request if the range contains all of it.
type listing struct {
	client   *container.Client
	service  string
	from, to time.Time
	listed   map[time.Time]bool // hours
	blobs    map[time.Time][]listedBlob
	stats    *Stats
}

func newListing(c *container.Client, service string, from, to time.Time, stats *Stats) *listing {
	return &listing{
		client: c, service: service, from: from, to: to, stats: stats,
		listed: map[time.Time]bool{}, blobs: map[time.Time][]listedBlob{},
	}
}

// of returns the blobs of the hour that starts at h.
func (l *listing) of(ctx context.Context, h time.Time) ([]listedBlob, error) {
	if l.listed[h] {
		return l.blobs[h], nil
	}
	prefix, hours := hourPrefix(l.service, h), 1
	if d := dayOf(h); h.Equal(d) && !d.Before(l.from) && !d.Add(day).After(l.to) {
		prefix, hours = dayPrefix(l.service, d), 24
	}
	for page, err := range listPages(ctx, l.client, prefix, true) {
		if err != nil {
			return nil, err
		}
		l.stats.Lists++
		for _, item := range page {
			if item.Name == nil || item.Properties == nil || item.Properties.ContentLength == nil {
				continue
			}
			of, ok := hourOfName(l.service, *item.Name)
			if !ok {
				continue
			}
			l.stats.Listed++
			l.blobs[of] = append(l.blobs[of], listedBlob{*item.Name, of, *item.Properties.ContentLength, item.Metadata})
		}
	}
	for i := range hours {
		l.listed[h.Add(time.Duration(i)*hour)] = true
	}
	return l.blobs[h], nil
}

// forgetBefore removes the hours before h from memory.
func (l *listing) forgetBefore(h time.Time) {
	maps.DeleteFunc(l.blobs, func(of time.Time, _ []listedBlob) bool { return of.Before(h) })
	maps.DeleteFunc(l.listed, func(of time.Time, _ bool) bool { return of.Before(h) })
}
