package table

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

const maxBatch = 100 // operations

// batch carries out an entity group transaction: all of its changes or none.
func (s *Service) batch(c *call) *rest.Error {
	body, err := rest.ReadBody(c.r, maxBody)
	if err != nil {
		return err
	}
	requests, changes, err := parseBatch(c.r.Header.Get("Content-Type"), body)
	if err != nil {
		return err
	}
	if !changes {
		return s.batchGet(c, requests[0])
	}
	writes, t, done, index, err := s.transact(c, requests)
	if err != nil {
		c.side.Fail(err.Status, err.Code)
		message := strconv.Itoa(index) + ":" + err.Message
		id := ""
		if index < len(requests) {
			id = requests[index].contentID
		}
		c.answerSet(func(b []byte, open string) []byte {
			return c.appendFailure(append(b, open...), err, message, id)
		})
		return nil
	}
	c.side.Count(0, 0, len(writes))
	c.answerSet(func(b []byte, open string) []byte {
		for i := range writes {
			b = append(b, open...)
			b = c.appendResult(b, t, &writes[i], done[i], requests[i].contentID)
		}
		return b
	})
	return nil
}

// transact runs the changes in order, and returns the index of the one that
// failed.
func (s *Service) transact(c *call, requests []request) (writes []write, t *table, done []change, index int, err *rest.Error) {
	if len(requests) > maxBatch {
		return nil, nil, nil, maxBatch - 1, bad("InvalidInput", "The batch request operation exceeds the maximum 100 changes per change set.")
	}
	writes = make([]write, len(requests))
	seen := make(map[string]struct{}, len(requests))
	guard := c.side.Guards()
	for i := range requests {
		w := &writes[i]
		if *w, err = c.parsePart(&requests[i]); err != nil {
			return nil, nil, nil, i, err
		}
		c.side.Touch(w.partition, w.row)
		switch {
		case !strings.EqualFold(w.table, writes[0].table):
			err = errInvalidInput
		case w.partition != writes[0].partition:
			err = errMixedPartitions
		default:
			err = w.allowed(guard)
		}
		if _, again := seen[w.row]; again && err == nil {
			err = errDuplicateRow
		}
		if err != nil {
			return nil, nil, nil, i, err
		}
		seen[w.row] = struct{}{}
	}
	if c.side != nil {
		c.side.Table = writes[0].table
	}
	if t, err = s.lookup(writes[0].table); err != nil {
		return nil, nil, nil, 0, err
	}
	done, index, err = s.runAll(t, writes)
	return writes, t, done, index, err
}

// runAll plans every write before it applies any: no two of them address one
// row, so that none depends on another.
func (s *store) runAll(t *table, writes []write) (done []change, index int, err *rest.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return nil, 0, s.missing(t.name)
	}
	done = make([]change, len(writes))
	for i := range writes {
		if done[i], err = s.plan(t, &writes[i]); err != nil {
			return nil, i, err
		}
	}
	for i := range writes {
		t.apply(&writes[i], done[i])
	}
	return done, 0, nil
}

func (c *call) parsePart(r *request) (write, *rest.Error) {
	a, _, err := parseTarget(r.target, c.base())
	if err != nil {
		return write{}, err
	}
	if a.name == "" || a.name == "$batch" || strings.EqualFold(a.name, "Tables") || a.parens && !a.keyed {
		return write{}, errInvalidInput
	}
	m, err := method(r.method, r.header)
	if err != nil {
		return write{}, err
	}
	if m == http.MethodGet {
		return write{}, errInvalidInput // a change set holds changes only
	}
	return parseWrite(m, a, r.header, r.body)
}

// batchGet answers a batch that is one point read.
func (s *Service) batchGet(c *call, r request) *rest.Error {
	a, q, err := parseTarget(r.target, c.base())
	if err != nil {
		return err
	}
	if r.method != http.MethodGet || !a.keyed || strings.EqualFold(a.name, "Tables") {
		return errInvalidInput
	}
	l, err := levelOf(r.header.Get("Accept"))
	if err != nil {
		return err
	}
	names, err := parseSelect(q.Get("$select"))
	if err != nil {
		return err
	}
	if c.side != nil {
		c.side.Table = a.name
	}
	found, t, err := s.find(c.side, a)
	c.answer(func(b []byte, open string) []byte {
		b = append(b, open...)
		if err != nil {
			c.side.Fail(err.Status, err.Code)
			return c.appendFailure(b, err, "0:"+err.Message, r.contentID)
		}
		b = appendStatus(b, http.StatusOK, r.contentID)
		b = append(b, "ETag: "+found.etag+"\r\n"...)
		return appendBody(b, mediaTypes[l][0], c.entity(found, t, l, names))
	})
	return nil
}

const partHead = "\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"

// answerSet answers a change set with the parts that write appends, each of
// them behind open.
func (c *call) answerSet(write func(b []byte, open string) []byte) {
	c.answer(func(b []byte, _ string) []byte {
		set := "changesetresponse_" + c.id
		b = append(b, "--batchresponse_"+c.id+"\r\nContent-Type: multipart/mixed; boundary="+set+"\r\n\r\n"...)
		b = write(b, "--"+set+partHead)
		return append(b, "--"+set+"--\r\n"...)
	})
}

// answer answers a batch with the parts that write appends.
func (c *call) answer(write func(b []byte, open string) []byte) {
	boundary := "batchresponse_" + c.id
	b := write(make([]byte, 0, 4096), "--"+boundary+partHead)
	b = append(b, "--"+boundary+"--\r\n"...)
	c.w.Header()["Content-Type"] = []string{"multipart/mixed; boundary=" + boundary}
	c.send(http.StatusAccepted, b)
}

func appendStatus(b []byte, status int, contentID string) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, http.StatusText(status)...)
	b = append(b, "\r\n"...)
	if contentID != "" {
		b = append(b, "Content-ID: "+contentID+"\r\n"...)
	}
	return append(b, "X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nDataServiceVersion: 3.0;\r\n"...)
}

func appendBody(b []byte, mediaType string, body []byte) []byte {
	b = append(b, "Content-Type: "+mediaType+"\r\n\r\n"...)
	b = append(b, body...)
	return append(b, "\r\n"...)
}

func (c *call) appendFailure(b []byte, e *rest.Error, message, contentID string) []byte {
	b = appendStatus(b, e.Status, contentID)
	return appendBody(b, errorType[0], rest.ODataError(e.Code, message, c.id, time.Now()))
}

func (c *call) appendResult(b []byte, t *table, w *write, done change, contentID string) []byte {
	status := http.StatusNoContent
	if w.verb == verbInsert && w.echo {
		status = http.StatusCreated
	}
	b = appendStatus(b, status, contentID)
	if done.row != nil {
		b = append(b, "ETag: "...)
		b = append(b, done.row.etag...)
		b = append(b, "\r\n"...)
	}
	if w.verb == verbInsert {
		address := c.base() + "/" + t.name + "(PartitionKey='" + escapeKey(w.partition) + "',RowKey='" + escapeKey(w.row) + "')"
		if w.noted {
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
