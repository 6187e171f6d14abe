package queue

import (
	"container/heap"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Limits of https://learn.microsoft.com/rest/api/storageservices/put-message and
// https://learn.microsoft.com/rest/api/storageservices/get-messages; times are in
// seconds.
const (
	week              = 7 * 24 * 60 * 60
	defaultVisible    = 30
	maxGet            = 32
	anyTTL            = "2017-07-29" // since then there is no upper limit to messagettl
	putReturnsReceipt = "2016-05-31" // since then a put returns the receipt
)

// lifetime reads messagettl: seconds, or -1 for a message that never expires.
func lifetime(c *xmlservice.Call) (int64, *reply.Error) {
	high := int64(math.MaxInt64)
	if c.Version < anyTTL {
		high = week
	}
	ttl, e := c.Int("messagettl", -1, high, week)
	if e == nil && (ttl == 0 || ttl < 0 && c.Version < anyTTL) {
		e = reply.QueryOutOfRange("messagettl", c.Query.Get("messagettl"), 1, high)
	}
	return ttl, e
}

// https://learn.microsoft.com/rest/api/storageservices/put-message
func (s *Service) put(c *xmlservice.Call) *reply.Error {
	ttl, e := lifetime(c)
	if e != nil {
		return e
	}
	hide, e := c.Int("visibilitytimeout", 0, week, 0)
	if e != nil {
		return e
	}
	if ttl >= 0 && hide >= ttl {
		return reply.InvalidQuery("visibilitytimeout", c.Query.Get("visibilitytimeout"), "Not less than messagettl.")
	}
	text, e := readText(c)
	if e != nil {
		return e
	}
	return s.on(c, func(q *queue) *reply.Error {
		order := s.ticks.Next(c.Now)
		m := &message{
			id: uuid.NewString(), text: text, receipt: receipt(order), order: order,
			inserted: c.Now, expires: never, visible: c.Now.Add(seconds(hide)),
		}
		if ttl >= 0 && ttl < int64(never.Sub(c.Now)/time.Second) {
			m.expires = c.Now.Add(seconds(ttl))
		}
		q.box.add(m)
		c.Count(0, 1)
		if c.Version < putReturnsReceipt {
			return c.Empty(http.StatusCreated)
		}
		var x xmlservice.XML
		x.Begin("QueueMessagesList")
		m.xml(&x, true, false)
		x.End("QueueMessagesList")
		return c.XML(http.StatusCreated, &x)
	})
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// https://learn.microsoft.com/rest/api/storageservices/get-messages
func (s *Service) get(c *xmlservice.Call) *reply.Error {
	n, e := c.Int("numofmessages", 1, maxGet, 1)
	if e != nil {
		return e
	}
	hide, e := c.Int("visibilitytimeout", 1, week, defaultVisible)
	if e != nil {
		return e
	}
	return s.read(c, n, func(m *message, x *xmlservice.XML) {
		m.dequeued++
		m.visible = c.Now.Add(seconds(hide))
		m.order = s.ticks.Next(c.Now)
		m.receipt = receipt(m.order)
		m.xml(x, true, true)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/peek-messages
func (s *Service) peek(c *xmlservice.Call) *reply.Error {
	n, e := c.Int("numofmessages", 1, maxGet, 1)
	if e != nil {
		return e
	}
	return s.read(c, n, func(m *message, x *xmlservice.XML) { m.xml(x, false, true) })
}

func (s *Service) read(c *xmlservice.Call, n int64, use func(*message, *xmlservice.XML)) *reply.Error {
	var x xmlservice.XML
	x.Begin("QueueMessagesList")
	e := s.on(c, func(q *queue) *reply.Error {
		q.box.front(c.Now, int(n), func(m *message) {
			use(m, &x)
			c.Count(1, 0)
		})
		return nil
	})
	if e != nil {
		return e
	}
	x.End("QueueMessagesList")
	return c.XML(http.StatusOK, &x)
}

func (m *message) xml(x *xmlservice.XML, owned, content bool) {
	x.Begin("QueueMessage")
	x.Text("MessageId", m.id)
	x.Text("InsertionTime", xmlservice.HTTPTime(m.inserted))
	x.Text("ExpirationTime", xmlservice.HTTPTime(m.expires))
	if owned {
		x.Text("PopReceipt", m.receipt)
		x.Text("TimeNextVisible", xmlservice.HTTPTime(m.visible))
	}
	if content {
		x.Text("DequeueCount", strconv.FormatInt(m.dequeued, 10))
		x.Text("MessageText", m.text)
	}
	x.End("QueueMessage")
}

// https://learn.microsoft.com/rest/api/storageservices/clear-messages
func (s *Service) clear(c *xmlservice.Call) *reply.Error {
	return s.on(c, func(q *queue) *reply.Error {
		c.Count(0, len(q.box.byID))
		q.box = newBox()
		return c.Empty(http.StatusNoContent)
	})
}

// onHeld calls do with the message that the request names, with s.mu held, if the pop
// receipt of the request is current.
func (s *Service) onHeld(c *xmlservice.Call, do func(*queue, *message) *reply.Error) *reply.Error {
	pop := c.Query.Get("popreceipt")
	if pop == "" {
		return reply.MissingQuery("popreceipt")
	}
	return s.on(c, func(q *queue) *reply.Error {
		m := q.box.byID[c.Message]
		if m == nil {
			return reply.New(http.StatusNotFound, "MessageNotFound", "The specified message does not exist.")
		}
		if m.receipt != pop {
			return reply.New(http.StatusBadRequest, "PopReceiptMismatch", "The specified pop receipt did not match the pop receipt for a dequeued message.").Because("popreceipt: the receipt of the last Get, Put or Update of the message")
		}
		return do(q, m)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/update-message
func (s *Service) update(c *xmlservice.Call) *reply.Error {
	if !c.Query.Has("visibilitytimeout") {
		return reply.MissingQuery("visibilitytimeout")
	}
	hide, e := c.Int("visibilitytimeout", 0, week, 0)
	if e != nil {
		return e
	}
	text, keep := "", c.ContentLength == 0
	if !keep {
		if text, e = readText(c); e != nil {
			return e
		}
	}
	return s.onHeld(c, func(q *queue, m *message) *reply.Error {
		visible := c.Now.Add(seconds(hide))
		if visible.After(m.expires) {
			left := int64(m.expires.Sub(c.Now) / time.Second)
			return reply.QueryOutOfRange("visibilitytimeout", c.Query.Get("visibilitytimeout"), 0, left)
		}
		if !keep {
			m.text = text
		}
		m.visible = visible
		m.order = s.ticks.Next(c.Now)
		m.receipt = receipt(m.order)
		heap.Fix(&q.box.visible, m.visibleAt)
		c.Count(0, 1)
		c.Set("X-Ms-Popreceipt", m.receipt)
		c.Set("X-Ms-Time-Next-Visible", xmlservice.HTTPTime(m.visible))
		return c.Empty(http.StatusNoContent)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/delete-message2
func (s *Service) remove(c *xmlservice.Call) *reply.Error {
	return s.onHeld(c, func(q *queue, m *message) *reply.Error {
		q.box.remove(m)
		c.Count(0, 1)
		return c.Empty(http.StatusNoContent)
	})
}
