package logdata

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// listed is a blob of the log.
type listed struct {
	name string
	hour time.Time
	size int64
	meta map[string]*string
}

// listing gives the blobs of each hour of [from, to) and asks for each hour once; for
// a whole day at once, where all of it is wanted.
type listing struct {
	client   *container.Client
	service  string
	from, to time.Time
	asked    map[time.Time]bool // hours
	blobs    map[time.Time][]listed
	stats    *Stats
}

func newListing(c *container.Client, service string, from, to time.Time, stats *Stats) *listing {
	return &listing{
		client: c, service: service, from: from, to: to, stats: stats,
		asked: map[time.Time]bool{}, blobs: map[time.Time][]listed{},
	}
}

// of gives the blobs of the hour that begins at h.
func (l *listing) of(ctx context.Context, h time.Time) ([]listed, error) {
	if l.asked[h] {
		return l.blobs[h], nil
	}
	prefix, hours := hourPrefix(l.service, h), 1
	if d := dayOf(h); h.Equal(d) && !d.Before(l.from) && !d.Add(day).After(l.to) {
		prefix, hours = dayPrefix(l.service, d), 24
	}
	for page, err := range pages(ctx, l.client, prefix, true) {
		if err != nil {
			return nil, err
		}
		l.stats.Lists++
		for _, item := range page {
			if item.Name == nil || item.Properties == nil || item.Properties.ContentLength == nil {
				continue
			}
			at, ok := hourOfName(l.service, *item.Name)
			if !ok {
				continue
			}
			l.stats.Listed++
			l.blobs[at] = append(l.blobs[at], listed{*item.Name, at, *item.Properties.ContentLength, item.Metadata})
		}
	}
	for i := range hours {
		l.asked[h.Add(time.Duration(i)*hour)] = true
	}
	return l.blobs[h], nil
}

// forget lets go of the hours before h.
func (l *listing) forget(h time.Time) {
	for at := range l.blobs {
		if at.Before(h) {
			delete(l.blobs, at)
		}
	}
	for at := range l.asked {
		if at.Before(h) {
			delete(l.asked, at)
		}
	}
}
