package queue

import (
	"container/heap"
	"net/http"
	"strconv"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
	"github.com/google/uuid"
)

// Limits of https://learn.microsoft.com/rest/api/storageservices/put-message and
// https://learn.microsoft.com/rest/api/storageservices/get-messages, in seconds
// where they are times.
const (
	week           = 7 * 24 * 60 * 60
	defaultVisible = 30
	maxGet         = 32
	anyTTL         = "2017-07-29" // since then a message may live for any time
	putAnswers     = "2016-05-31" // since then a put answers with the receipt
)

func (s *Service) messages(c *restxml.Call, name string) *restxml.Error {
	switch c.R.Method {
	case http.MethodPost:
		return s.put(c, name)
	case http.MethodGet:
		switch peek := c.Query.Get("peekonly"); peek {
		case "true":
			return s.peek(c, name)
		case "", "false":
			return s.get(c, name)
		default:
			return restxml.InvalidQuery("peekonly", peek, "Not true or false.")
		}
	case http.MethodDelete:
		return s.clear(c, name)
	}
	return restxml.UnsupportedVerb()
}

// lifetime reads messagettl: seconds, or -1 for ever.
func lifetime(c *restxml.Call) (int64, *restxml.Error) {
	high := int64(1<<31 - 1)
	if c.Version < anyTTL {
		high = week
	}
	ttl, e := c.Int("messagettl", -1, high, week)
	if e == nil && (ttl == 0 || ttl < 0 && c.Version < anyTTL) {
		e = restxml.QueryOutOfRange("messagettl", c.Query.Get("messagettl"), 1, high)
	}
	return ttl, e
}

// https://learn.microsoft.com/rest/api/storageservices/put-message
func (s *Service) put(c *restxml.Call, name string) *restxml.Error {
	ttl, e := lifetime(c)
	if e != nil {
		return e
	}
	hide, e := c.Int("visibilitytimeout", 0, week, 0)
	if e != nil {
		return e
	}
	if ttl >= 0 && hide >= ttl {
		return restxml.QueryOutOfRange("visibilitytimeout", c.Query.Get("visibilitytimeout"), 0, min(ttl-1, week))
	}
	text, e := readText(c)
	if e != nil {
		return e
	}
	return s.on(c, name, func(q *queue) *restxml.Error {
		order := s.ticks.Next(c.Now)
		m := &message{
			id: uuid.NewString(), text: text, receipt: receipt(order), order: order,
			inserted: c.Now, expires: never, visible: c.Now.Add(seconds(hide)),
		}
		if ttl >= 0 {
			m.expires = c.Now.Add(seconds(ttl))
		}
		q.box.add(m)
		c.Count(0, 1)
		if c.Version < putAnswers {
			c.Empty(http.StatusCreated)
			return nil
		}
		var x restxml.XML
		x.Begin("QueueMessagesList")
		m.xml(&x, true, false)
		x.End("QueueMessagesList")
		c.XML(http.StatusCreated, &x)
		return nil
	})
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// https://learn.microsoft.com/rest/api/storageservices/get-messages
func (s *Service) get(c *restxml.Call, name string) *restxml.Error {
	n, e := c.Int("numofmessages", 1, maxGet, 1)
	if e != nil {
		return e
	}
	hide, e := c.Int("visibilitytimeout", 1, week, defaultVisible)
	if e != nil {
		return e
	}
	return s.read(c, name, n, func(m *message, x *restxml.XML) {
		m.dequeued++
		m.visible = c.Now.Add(seconds(hide))
		m.order = s.ticks.Next(c.Now)
		m.receipt = receipt(m.order)
		m.xml(x, true, true)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/peek-messages
func (s *Service) peek(c *restxml.Call, name string) *restxml.Error {
	n, e := c.Int("numofmessages", 1, maxGet, 1)
	if e != nil {
		return e
	}
	return s.read(c, name, n, func(m *message, x *restxml.XML) { m.xml(x, false, true) })
}

func (s *Service) read(c *restxml.Call, name string, n int64, use func(*message, *restxml.XML)) *restxml.Error {
	var x restxml.XML
	x.Begin("QueueMessagesList")
	e := s.on(c, name, func(q *queue) *restxml.Error {
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
	c.Set("Cache-Control", "no-cache")
	c.XML(http.StatusOK, &x)
	return nil
}

func (m *message) xml(x *restxml.XML, owned, content bool) {
	x.Begin("QueueMessage")
	x.Text("MessageId", m.id)
	x.Text("InsertionTime", restxml.HTTPTime(m.inserted))
	x.Text("ExpirationTime", restxml.HTTPTime(m.expires))
	if owned {
		x.Text("PopReceipt", m.receipt)
		x.Text("TimeNextVisible", restxml.HTTPTime(m.visible))
	}
	if content {
		x.Text("DequeueCount", strconv.FormatInt(m.dequeued, 10))
		x.Text("MessageText", m.text)
	}
	x.End("QueueMessage")
}

// https://learn.microsoft.com/rest/api/storageservices/clear-messages
func (s *Service) clear(c *restxml.Call, name string) *restxml.Error {
	return s.on(c, name, func(q *queue) *restxml.Error {
		c.Count(0, len(q.box.byID))
		q.box = newBox()
		c.Empty(http.StatusNoContent)
		return nil
	})
}

func (s *Service) message(c *restxml.Call, name, id string) *restxml.Error {
	switch c.R.Method {
	case http.MethodPut:
		return s.update(c, name, id)
	case http.MethodDelete:
		return s.remove(c, name, id)
	}
	return restxml.UnsupportedVerb()
}

// onHeld lets do work on the message that id and the popreceipt of the query name,
// with s.mu held.
func (s *Service) onHeld(c *restxml.Call, name, id string, do func(*queue, *message) *restxml.Error) *restxml.Error {
	pop := c.Query.Get("popreceipt")
	if pop == "" {
		return restxml.MissingQuery("popreceipt")
	}
	return s.on(c, name, func(q *queue) *restxml.Error {
		m := q.box.byID[id]
		if m == nil {
			return restxml.Refuse(http.StatusNotFound, "MessageNotFound", "The specified message does not exist.")
		}
		if m.receipt != pop {
			return restxml.Refuse(http.StatusBadRequest, "PopReceiptMismatch", "The specified pop receipt did not match the pop receipt for a dequeued message.")
		}
		return do(q, m)
	})
}

// https://learn.microsoft.com/rest/api/storageservices/update-message
func (s *Service) update(c *restxml.Call, name, id string) *restxml.Error {
	if !c.Query.Has("visibilitytimeout") {
		return restxml.MissingQuery("visibilitytimeout")
	}
	hide, e := c.Int("visibilitytimeout", 0, week, 0)
	if e != nil {
		return e
	}
	text, keep := "", c.R.ContentLength == 0
	if !keep {
		if text, e = readText(c); e != nil {
			return e
		}
	}
	return s.onHeld(c, name, id, func(q *queue, m *message) *restxml.Error {
		visible := c.Now.Add(seconds(hide))
		if visible.After(m.expires) {
			left := int64(m.expires.Sub(c.Now) / time.Second)
			return restxml.QueryOutOfRange("visibilitytimeout", c.Query.Get("visibilitytimeout"), 0, left)
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
		c.Set("X-Ms-Time-Next-Visible", restxml.HTTPTime(m.visible))
		c.Empty(http.StatusNoContent)
		return nil
	})
}

// https://learn.microsoft.com/rest/api/storageservices/delete-message2
func (s *Service) remove(c *restxml.Call, name, id string) *restxml.Error {
	return s.onHeld(c, name, id, func(q *queue, m *message) *restxml.Error {
		q.box.remove(m)
		c.Count(0, 1)
		c.Empty(http.StatusNoContent)
		return nil
	})
}
