package patterns

import (
	"context"
	"errors"
	"time"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/internal/wire"
	"github.com/azpatterns/azpatterns/keys"
)

// standing is a row as it was read.
type standing struct {
	etag string // "": there is no row
	body []byte
}

func (s standing) absent() bool { return s.etag == "" }

// readRow reads what stands at key. A missing row is no error.
func readRow(ctx context.Context, c *wire.Client, key keys.Key) (standing, error) {
	var s standing
	err := c.Get(ctx, key.Partition, key.Row, func(etag string, body []byte) error {
		s.etag, s.body = etag, append([]byte(nil), body...)
		if etag != "" {
			return nil
		}
		_, m, err := edm.ReadProperties(body)
		s.etag = m.ETag
		return err
	})
	if errors.Is(err, ErrNotFound) {
		return standing{}, nil
	}
	return s, err
}

// content is a row taken apart, to be changed and written back.
type content struct {
	edm.Properties
	stamp string
	at    time.Time // of the last write
}

// content takes the row apart. A missing row is an empty one.
func (s standing) content() (content, error) {
	if s.absent() {
		return content{Properties: edm.Properties{}}, nil
	}
	p, m, err := edm.ReadProperties(s.body)
	return content{p, m.Stamp, m.Timestamp}, err
}

func (c content) text(name string) string {
	text, _ := c.Properties[name].(string)
	return text
}

// over is the write that puts c in place of what stands at key.
func (c content) over(key keys.Key, s standing) (wire.Write, error) {
	body, err := edm.AppendProperties(nil, c.Properties, edm.Envelope{PartitionKey: key.Partition, RowKey: key.Row, Stamp: c.stamp})
	return over(key, s, body), err
}

// over is the write that puts body in place of what stands at key.
func over(key keys.Key, s standing, body []byte) wire.Write {
	w := wire.Write{Kind: wire.Replace, PartitionKey: key.Partition, RowKey: key.Row, Body: body, ETag: s.etag}
	if s.absent() {
		w.Kind = wire.Insert
	}
	return w
}

// away is the write that deletes what stands at key.
func away(key keys.Key, etag string) wire.Write {
	return wire.Write{Kind: wire.Delete, PartitionKey: key.Partition, RowKey: key.Row, ETag: etag}
}

// takenError says that a row which the primary wants is somebody else's.
type takenError struct {
	view  string // that wants it
	owner keys.Key
	known bool   // the row names its owner; else it is no row of the view's kind at all
	op    string // the operation of the owner that holds the row, "" for none
	at    time.Time
}

func (*takenError) Error() string { return "the row belongs to another" }
