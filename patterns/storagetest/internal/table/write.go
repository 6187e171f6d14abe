package table

import (
	"net/http"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// write is one change to one row, as described by a request or a part of a batch.
type write struct {
	op             op.Op
	table          string
	partition, row string
	ifMatch        string
	echo           bool // an insert returns the entity
	preferred      bool // the request has a preference for echo
	level          level
	props          []property
}

// change is the effect of a write on the stored row.
type change struct {
	row *row // nil if the row is deleted
}

// parseWrite reads a change to a row from r.
func parseWrite(r *request.Request) (write, *reply.Error) {
	key := r.Address.Key
	w := write{op: r.Op, table: r.Resource, partition: key.Partition, row: key.Row, ifMatch: r.Header.Get("If-Match")}
	if _, err := r.Body(request.MaxTableBody); err != nil {
		return w, err
	}
	if rest, ok := strings.CutPrefix(w.ifMatch, "w/"); ok && isETag("W/"+rest) {
		if err := r.Undecided("If-Match", "an ETag of a row begins with W/ in upper case", errInvalidInput); err != nil {
			return w, err
		}
		w.ifMatch = "W/" + rest
	}
	if w.ifMatch != "" && w.ifMatch != "*" && !isETag(w.ifMatch) {
		return w, errInvalidInput.Because("If-Match: an ETag of a row has the form W/\"…\", or is *")
	}
	switch {
	case w.op == op.TableInsert:
		return w, w.parseInsert(r)
	case w.op == op.TableDelete && w.ifMatch == "":
		return w, errInvalidInput.Because("If-Match: a delete requires it")
	case w.op == op.TableDelete:
		return w, nil
	}
	return w, w.parseChange(r)
}

// isETag reports whether s is a weak ETag. The service has no others, and refuses them:
// https://github.com/Azure/azure-storage-net/issues/904
func isETag(s string) bool {
	s, weak := strings.CutPrefix(s, "W/")
	return weak && len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && strings.IndexByte(s[1:len(s)-1], '"') < 0
}

func (w *write) parseInsert(r *request.Request) *reply.Error {
	h := r.Header
	var err *reply.Error
	if err = checkContent(h); err != nil {
		return err
	}
	if w.level, err = levelOf(formatOf(r)); err != nil {
		return err
	}
	w.echo, w.preferred = prefersEcho(h)
	e, err := parseEntity(r)
	if err != nil {
		return err
	}
	if !e.hasPartition || !e.hasRow {
		return errNeedValue.Because("PartitionKey or RowKey is missing")
	}
	w.partition, w.row, w.props = e.partition, e.row, e.props
	return checkSize(w.partition, w.row, w.props)
}

// prefersEcho returns whether the reply to an insert contains what was inserted, and whether the
// request has a preference for that.
func prefersEcho(h http.Header) (echo, preferred bool) {
	prefer := strings.ToLower(h.Get("Prefer"))
	return prefer != preference(false), prefer == preference(false) || prefer == preference(true)
}

func (w *write) parseChange(r *request.Request) *reply.Error {
	if err := checkContent(r.Header); err != nil {
		return err
	}
	e, err := parseEntity(r)
	if err != nil {
		return err
	}
	if e.hasPartition && e.partition != w.partition || e.hasRow && e.row != w.row {
		return errInvalidInput.Because("PartitionKey and RowKey in the body are those of the address")
	}
	w.props = e.props
	return checkSize(w.partition, w.row, w.props)
}

// plan returns the change that w makes to the stored row, without making it. The caller
// holds the table's lock.
func (s *store) plan(t *table, w *write, now time.Time) (change, *reply.Error) {
	old := t.rows.get(w.partition, w.row)
	switch {
	case w.op == op.TableInsert && old != nil:
		return change{}, errEntityExists
	case old == nil && (w.op == op.TableReplace || w.op == op.TableMerge || w.op == op.TableDelete):
		return change{}, errResourceNotFound
	case old != nil && w.ifMatch != "" && w.ifMatch != "*" && w.ifMatch != old.etag() && w.op != op.TableInsert:
		return change{}, errCondition
	case w.op == op.TableDelete:
		return change{}, nil
	}
	props := w.props
	if old != nil && (w.op == op.TableMerge || w.op == op.TableUpsertMerge) {
		props = merged(old.props(), w.props)
		if err := checkSize(w.partition, w.row, props); err != nil {
			return change{}, err
		}
	}
	return change{t.newRow(w.partition, w.row, s.clock.next(now), props)}, nil
}

func (t *table) apply(w *write, c change) {
	if c.row == nil {
		t.rows.remove(w.partition, w.row)
		return
	}
	t.rows.put(c.row)
}
