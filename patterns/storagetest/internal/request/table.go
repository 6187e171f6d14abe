package request

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// MaxTableBody is the largest body of a request to the Table service, in bytes.
const MaxTableBody = 4 << 20

// parseTable parses a request to the Table service, and returns the HTTP request to send instead of req.
func (r *Request) parseTable(req *http.Request) *http.Request {
	address, addressErr := parseAddress(r.Path)
	verb, verbErr := verbOf(r.Method, r.Header)
	r.Address, r.Verb, r.Resource = address, verb, address.Name
	r.addressRow()
	named := address // a request with malformed keys still has an operation
	named.Keyed = address.Keyed || addressErr != nil && address.Parens
	var opErr *reply.Error
	comp := r.Query.Has("comp")
	switch {
	case comp && r.Query.Get("restype") == "service" && strings.Trim(r.Path, "/") == "":
		addressErr = nil
		r.Op, opErr = tableServiceOp(r.Method, r.Query.Get("comp"))
	case comp:
		r.Op, opErr = tableACLOp(r.Method, r.Query.Get("comp"), address)
	default:
		r.Op, opErr = tableOp(verb, named, r.Header.Get("If-Match") != "")
	}
	switch {
	case r.BadQuery:
		r.Refusal = ErrQueryParam.Because("the query is not well-formed")
	case !comp && !validTimeout(r.Query.Get("timeout")):
		r.Refusal = ErrQueryParam.Because("timeout: a number of seconds")
	case addressErr != nil:
		r.Refusal = addressErr
	case !comp && verbErr != nil:
		r.Refusal = verbErr
	default:
		r.Refusal = opErr
	}
	switch r.Op {
	case op.TableList, op.TableDrop:
		r.Resource = address.Arg
	case op.TableCreate:
		req = r.buffer(req, MaxTableBody)
		r.Resource, _ = r.text("TableName")
	case op.TableInsert:
		req = r.buffer(req, MaxTableBody)
		r.insertedRow()
	case op.TableBatch:
		req = r.buffer(req, MaxTableBody)
		r.parseBatch()
	case op.TableOther, op.TableGetProperties, op.TableSetProperties, op.TableStats:
		if address.Name == "$batch" || address.isTables() {
			r.Resource = ""
		}
	}
	return req
}

func validTimeout(text string) bool {
	if text == "" {
		return true
	}
	seconds, err := strconv.Atoi(text)
	return err == nil && seconds >= 0
}

// addressRow sets the row that the address names.
func (r *Request) addressRow() {
	if r.Address.Keyed && !r.Address.isTables() {
		r.Rows = []keys.Key{r.Address.Key}
	}
}

// insertedRow sets the row that an insert addresses, if its body contains the keys.
func (r *Request) insertedRow() {
	partition, ok := r.text("PartitionKey")
	row, both := r.text("RowKey")
	if ok && both {
		r.Rows = []keys.Key{{Partition: partition, Row: row}}
	}
}

// text returns a string member of the JSON body, false if it has none with that name.
func (r *Request) text(name string) (string, bool) {
	members, _ := r.Object()
	for _, m := range members {
		if m.Name == name && m.Kind == StringValue {
			return m.Text, true
		}
	}
	return "", false
}

func tableServiceOp(method, comp string) (op.Op, *reply.Error) {
	switch {
	case comp == "properties" && method == http.MethodGet:
		return op.TableGetProperties, nil
	case comp == "properties" && method == http.MethodPut:
		return op.TableSetProperties, nil
	case comp == "properties":
		return op.TableOther, ErrMethod
	case comp == "stats":
		return op.TableStats, nil
	}
	return op.TableOther, ErrQueryParam.Because("comp: " + strconv.Quote(comp) + " is no operation on the service")
}

func tableACLOp(method, comp string, a Address) (op.Op, *reply.Error) {
	switch {
	case comp != "acl" || a.Name == "" || a.Parens:
		return op.TableOther, ErrQueryParam.Because("comp: " + strconv.Quote(comp) + " is no operation on this resource")
	case method == http.MethodGet, method == http.MethodHead:
		return op.TableGetACL, nil
	case method == http.MethodPut:
		return op.TableSetACL, nil
	}
	return op.TableOther, ErrMethod
}

func tableOp(verb string, a Address, conditional bool) (op.Op, *reply.Error) {
	switch {
	case a.Name == "":
	case a.Name == "$batch":
		if verb == http.MethodPost {
			return op.TableBatch, nil
		}
	case a.isTables():
		switch {
		case verb == http.MethodPost && !a.Keyed:
			return op.TableCreate, nil
		case verb == http.MethodDelete && a.Keyed:
			return op.TableDrop, nil
		case verb == http.MethodGet:
			return op.TableList, nil
		}
	case verb == http.MethodGet && a.Keyed:
		return op.TableGet, nil
	case verb == http.MethodGet:
		return op.TableQuery, nil
	default:
		return tableWriteOp(verb, a, conditional)
	}
	return op.TableOther, ErrMethod
}

// tableWriteOp returns the operation of a change to one row.
func tableWriteOp(verb string, a Address, conditional bool) (op.Op, *reply.Error) {
	switch {
	case verb == http.MethodPost && !a.Parens:
		return op.TableInsert, nil
	case !a.Keyed || verb == http.MethodPost:
	case verb == http.MethodPut && conditional:
		return op.TableReplace, nil
	case verb == http.MethodPut:
		return op.TableUpsertReplace, nil
	case (verb == http.MethodPatch || verb == "MERGE") && conditional:
		return op.TableMerge, nil
	case verb == http.MethodPatch, verb == "MERGE":
		return op.TableUpsertMerge, nil
	case verb == http.MethodDelete:
		return op.TableDelete, nil
	}
	return op.TableOther, ErrMethod
}

// verbOf returns the effective method of a request: X-HTTP-Method overrides the method POST.
func verbOf(method string, h http.Header) (string, *reply.Error) {
	over := h["X-Http-Method"]
	switch {
	case len(over) == 0:
		return method, nil
	case len(over) > 1:
		return method, errMethodCount
	case method != http.MethodPost:
		return method, errMethodNotPost
	}
	switch verb := strings.ToUpper(over[0]); verb {
	case "MERGE", http.MethodPut, http.MethodPatch, http.MethodDelete:
		return verb, nil
	}
	return method, errMethodValue
}

// parseTarget parses the address of an operation in a batch: absolute, or relative
// to the account.
func (r *Request) parseTarget(text string) *reply.Error {
	u, err := url.Parse(text)
	if err != nil {
		return ErrInvalidInput.Because("the address of an operation of the batch is malformed")
	}
	r.Path = u.Path
	if base, err := url.Parse(r.Base); err == nil && base.Path != "" {
		if rest, ok := strings.CutPrefix(r.Path, base.Path); ok && strings.HasPrefix(rest, "/") {
			r.Path = rest
		}
	}
	r.Path = strings.TrimPrefix(r.Path, "/")
	var refusal *reply.Error
	r.Address, refusal = parseAddress(r.Path)
	r.Resource = r.Address.Name
	if refusal != nil {
		return refusal
	}
	r.addressRow()
	if r.Query, err = url.ParseQuery(u.RawQuery); err != nil {
		return ErrQueryParam.Because("the query of an operation of the batch is malformed")
	}
	return nil
}
