package table

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

type verb uint8

const (
	verbInsert verb = iota
	verbReplace
	verbMerge
	verbUpsertReplace
	verbUpsertMerge
	verbDelete
)

// write is one change to one row, as a request or a part of a batch asks for.
type write struct {
	verb           verb
	table          string
	partition, row string
	ifMatch        string
	echo           bool // an insert answers with the entity
	noted          bool // the request said which answer it prefers
	level          level
	props          []property
}

// change is what a write comes to, once it was held against the table.
type change struct {
	row *row // nil: the row is deleted
}

// method returns the method that a request means: X-HTTP-Method overrides
// the one of a POST.
func method(verb string, h http.Header) (string, *rest.Error) {
	over := h["X-Http-Method"]
	switch {
	case len(over) == 0:
		return verb, nil
	case len(over) > 1:
		return "", errMethodCount
	case verb != http.MethodPost:
		return "", errMethodNotPost
	}
	switch m := strings.ToUpper(over[0]); m {
	case "MERGE", http.MethodPut, http.MethodPatch, http.MethodDelete:
		return m, nil
	}
	return "", errMethodValue
}

// parseWrite reads a write from the pieces of its request.
func parseWrite(method string, a address, h http.Header, body []byte) (write, *rest.Error) {
	w := write{table: a.name, partition: a.partition, row: a.row, ifMatch: h.Get("If-Match")}
	if w.ifMatch != "" && w.ifMatch != "*" && !isETag(w.ifMatch) {
		return w, errInvalidInput
	}
	if (method == http.MethodPost) == a.keyed {
		return w, errMethod
	}
	switch method {
	case http.MethodPost:
		return w, w.parseInsert(h, body)
	case http.MethodPut:
		w.verb = verbReplace
		if w.ifMatch == "" {
			w.verb = verbUpsertReplace
		}
	case http.MethodPatch, "MERGE":
		w.verb = verbMerge
		if w.ifMatch == "" {
			w.verb = verbUpsertMerge
		}
	case http.MethodDelete:
		w.verb = verbDelete
		if w.ifMatch == "" {
			return w, errInvalidInput
		}
		return w, nil
	default:
		return w, errMethod
	}
	return w, w.parseChange(h, body)
}

func isETag(s string) bool {
	s = strings.TrimPrefix(s, "W/")
	return len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && strings.IndexByte(s[1:len(s)-1], '"') < 0
}

func (w *write) parseInsert(h http.Header, body []byte) *rest.Error {
	var err *rest.Error
	if err = checkContent(h); err != nil {
		return err
	}
	if w.level, err = levelOf(h.Get("Accept")); err != nil {
		return err
	}
	w.verb, w.echo = verbInsert, true
	switch prefer := h.Get("Prefer"); {
	case strings.EqualFold(prefer, "return-no-content"):
		w.echo, w.noted = false, true
	case strings.EqualFold(prefer, "return-content"):
		w.noted = true
	}
	e, err := parseEntity(body)
	if err != nil {
		return err
	}
	if !e.hasPartition || !e.hasRow {
		return errNeedValue
	}
	w.partition, w.row, w.props = e.partition, e.row, e.props
	return checkSize(w.partition, w.row, w.props)
}

func (w *write) parseChange(h http.Header, body []byte) *rest.Error {
	if err := checkContent(h); err != nil {
		return err
	}
	e, err := parseEntity(body)
	if err != nil {
		return err
	}
	if e.hasPartition && e.partition != w.partition || e.hasRow && e.row != w.row {
		return errInvalidInput
	}
	w.props = e.props
	return checkSize(w.partition, w.row, w.props)
}

// right is what the credential of the request has to allow.
func (w *write) right() rest.Right {
	switch w.verb {
	case verbInsert:
		return rest.InsertRow
	case verbReplace, verbMerge:
		return rest.UpdateRow
	case verbDelete:
		return rest.DeleteRow
	}
	return rest.UpsertRow
}

func (w *write) allowed(g rest.Guard) *rest.Error {
	return g.AllowRow(w.right(), w.table, w.partition, w.row)
}

// plan holds w against the stored row and says what it comes to. The table's
// lock is held, and nothing is changed yet.
func (s *store) plan(t *table, w *write) (change, *rest.Error) {
	old := t.rows.get(w.partition, w.row)
	switch {
	case w.verb == verbInsert && old != nil:
		return change{}, errEntityExists
	case old == nil && (w.verb == verbReplace || w.verb == verbMerge || w.verb == verbDelete):
		return change{}, errResourceNotFound
	case old != nil && w.ifMatch != "" && w.ifMatch != "*" && w.ifMatch != old.etag && w.verb != verbInsert:
		return change{}, errCondition
	case w.verb == verbDelete:
		return change{}, nil
	}
	props := w.props
	if old != nil && (w.verb == verbMerge || w.verb == verbUpsertMerge) {
		props = merged(old.props, w.props)
		if err := checkSize(w.partition, w.row, props); err != nil {
			return change{}, err
		}
	}
	return change{newRow(w.partition, w.row, s.clock.next(), props)}, nil
}

func (t *table) apply(w *write, c change) {
	if c.row == nil {
		t.rows.remove(w.partition, w.row)
		return
	}
	t.rows.put(c.row)
}

// run carries out one write alone.
func (s *store) run(t *table, w *write) (change, *rest.Error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return change{}, s.missing(t.name)
	}
	c, err := s.plan(t, w)
	if err == nil {
		t.apply(w, c)
	}
	return c, err
}
