package table

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

const maxBatch = 100 // operations

// batch carries out an entity group transaction: all of its changes or none.
func (s *Service) batch(c *call) *reply.Error {
	if err := c.Batch.Refusal; err != nil {
		return err
	}
	if !c.Batch.Changes {
		return s.batchGet(c, c.Batch.Parts[0])
	}
	if len(c.Batch.Parts) == 0 {
		c.replyChangeSet(func(b []byte, _ string) []byte { return b })
		return nil
	}
	writes, t, done, index, err := s.transact(c)
	if err != nil {
		c.Fail(err)
		id := ""
		if index < len(c.Batch.IDs) {
			id = c.Batch.IDs[index]
		}
		c.replyChangeSet(func(b []byte, open string) []byte {
			return c.appendFailure(append(b, open...), err, index, id)
		})
		return nil
	}
	c.Count(0, 0, len(writes))
	c.replyChangeSet(func(b []byte, open string) []byte {
		for i := range writes {
			b = append(b, open...)
			b = c.appendResult(b, t, &writes[i], done[i], c.Batch.IDs[i])
		}
		return b
	})
	return nil
}

// transact runs the changes in order. If one fails, it returns the index of the one that
// failed.
func (s *Service) transact(c *call) (writes []write, t *table, done []change, index int, err *reply.Error) {
	parts := c.Batch.Parts
	if len(parts) > maxBatch {
		return nil, nil, nil, maxBatch - 1, bad("InvalidInput", "The batch request operation exceeds the maximum 100 changes per change set.").Because("a change set has at most 100 operations")
	}
	writes = make([]write, len(parts))
	seen := make(map[string]struct{}, len(parts))
	for i, part := range parts {
		w := &writes[i]
		if err = part.Refusal; err == nil {
			*w, err = parseWrite(part)
		}
		if err != nil {
			return nil, nil, nil, i, err
		}
		_, again := seen[w.row]
		switch {
		case !strings.EqualFold(w.table, writes[0].table):
			err = errInvalidInput.Because("the operations of a batch are on one table")
		case w.partition != writes[0].partition:
			err = errMixedPartitions.Because("PartitionKey: the operations of a batch are in one partition")
		default:
			err = c.allowed(w)
		}
		if again && err == nil {
			err = errDuplicateRow.Because("RowKey: a batch contains each row once")
		}
		if err != nil {
			return nil, nil, nil, i, err
		}
		seen[w.row] = struct{}{}
	}
	if t, err = s.lookup(writes[0].table, c.Time()); err != nil {
		return nil, nil, nil, 0, err
	}
	done, index, err = s.runAll(t, writes, c.Time())
	return writes, t, done, index, err
}

// runAll plans all writes before it applies any of them. This is possible because no two of
// them address the same row.
func (s *store) runAll(t *table, writes []write, now time.Time) (done []change, index int, err *reply.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, 0, s.missing(t.name, now)
	}
	done = make([]change, len(writes))
	for i := range writes {
		if done[i], err = s.plan(t, &writes[i], now); err != nil {
			return nil, i, err
		}
	}
	for i := range writes {
		t.apply(&writes[i], done[i])
	}
	return done, 0, nil
}

// batchGet replies to a batch that is one point read.
func (s *Service) batchGet(c *call, part *request.Request) *reply.Error {
	if part.Refusal != nil {
		return part.Refusal
	}
	l, err := levelOf(formatOf(part))
	if err != nil {
		return err
	}
	names, err := parseSelect(part.Query.Get("$select"))
	if err != nil {
		return err
	}
	id := c.Batch.IDs[0]
	found, t, err := s.find(c, part)
	c.replyBatch(func(b []byte, open string) []byte {
		b = append(b, open...)
		if err != nil {
			c.Fail(err)
			return c.appendFailure(b, err, 0, id)
		}
		b = appendStatus(b, http.StatusOK, id, "3.0")
		b = append(b, "ETag: "+found.etag()+"\r\n"...)
		return appendBody(b, mediaTypes[l][0], c.entity(found, t, l, names))
	})
	return nil
}

const partHead = "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"

// replyChangeSet replies to a change set with the parts that write appends. write must append
// open before each of them.
func (c *call) replyChangeSet(write func(b []byte, open string) []byte) {
	c.replyBatch(func(b []byte, _ string) []byte {
		set := "changesetresponse_" + c.id
		b = append(b, "--batchresponse_"+c.id+"\r\nContent-Type: multipart/mixed; boundary="+set+"\r\n\r\n"...)
		b = write(b, "--"+set+partHead)
		return append(b, "--"+set+"--\r\n"...)
	})
}

// replyBatch replies to a batch with the parts that write appends.
func (c *call) replyBatch(write func(b []byte, open string) []byte) {
	boundary := "batchresponse_" + c.id
	b := write(make([]byte, 0, 4096), "--"+boundary+partHead)
	b = append(b, "--"+boundary+"--\r\n"...)
	c.w.Header()["Content-Type"] = []string{"multipart/mixed; boundary=" + boundary}
	c.send(http.StatusAccepted, b)
}

// appendStatus begins the reply of an operation. dataVersion is the version of OData that the reply needs: 1.0
// without a body and an address, otherwise 3.0.
func appendStatus(b []byte, status int, contentID, dataVersion string) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	if contentID != "" {
		b = append(b, "Content-ID: "+contentID+"\r\n"...)
	}
	return append(b, "X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: "+dataVersion+";\r\n"...)
}

func appendBody(b []byte, mediaType string, body []byte) []byte {
	b = append(b, "Content-Type: "+mediaType+"\r\n\r\n"...)
	b = append(b, body...)
	return append(b, "\r\n"...)
}

// appendFailure appends the reply of the operation that failed.
func (c *call) appendFailure(b []byte, e *reply.Error, index int, contentID string) []byte {
	b = appendStatus(b, e.Status, contentID, "3.0")
	message := strconv.Itoa(index) + ":" + e.Message
	return appendBody(b, errorType[0], reply.ODataError(e.Code, message, c.id, c.Time()))
}

func (c *call) appendResult(b []byte, t *table, w *write, done change, contentID string) []byte {
	status := http.StatusNoContent
	if w.op == op.TableInsert && w.echo {
		status = http.StatusCreated
	}
	dataVersion := "1.0"
	if w.op == op.TableInsert {
		dataVersion = "3.0"
	}
	b = appendStatus(b, status, contentID, dataVersion)
	if done.row != nil {
		b = append(b, "ETag: "...)
		b = done.row.appendETag(b)
		b = append(b, "\r\n"...)
	}
	if w.op == op.TableInsert {
		address := c.Base + "/" + addressOf(t.name, w.partition, w.row)
		if w.preferred {
			b = append(b, "Preference-Applied: "+preference(w.echo)+"\r\n"...)
		}
		b = append(b, "Location: "+address+"\r\n"...)
		if w.echo {
			return appendBody(b, mediaTypes[w.level][0], c.entity(done.row, t, w.level, nil))
		}
		b = append(b, "DataServiceId: "+address+"\r\n"...)
	}
	return append(b, "\r\n\r\n"...)
}
