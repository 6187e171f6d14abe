package fault

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Pages are shaped with what any service understands: a smaller $top makes a
// short page, and an empty page is answered here, with a token that leads to
// the page that was asked for. The token is the one of the request with a mark
// in front, which is taken off when it comes back.

const emptyMark = "azp-empty!"

var tokenNames = [...]string{"NextPartitionKey", "NextTableName"}

// shapePage changes the query of a request, and reports whether it follows an
// empty page.
func shapePage(req *http.Request, e effect) (again bool) {
	again = strings.Contains(req.URL.RawQuery, "=azp-empty")
	if !again && e.page.Rows == 0 {
		return false
	}
	q := req.URL.Query()
	for _, name := range tokenNames {
		if token, ok := strings.CutPrefix(q.Get(name), emptyMark); ok {
			q.Set(name, token)
			if token == "" {
				q.Del(name)
			}
		}
	}
	if n := e.page.Rows; n > 0 {
		if top, err := strconv.Atoi(q.Get("$top")); err != nil || top > n {
			q.Set("$top", strconv.Itoa(n))
		}
	}
	u := new(url.URL)
	*u = *req.URL
	u.RawQuery = q.Encode()
	req.URL = u
	return again
}

// emptyPage answers a query with no rows and a token.
func emptyPage(req *http.Request, q *Request) *http.Response {
	h := http.Header{"Content-Type": {"application/json;odata=minimalmetadata;streaming=true;charset=utf-8"}}
	query := req.URL.Query()
	if q.Op == TableList {
		h.Set("x-ms-continuation-NextTableName", emptyMark+strings.TrimPrefix(query.Get("NextTableName"), emptyMark))
	} else {
		h.Set("x-ms-continuation-NextPartitionKey", emptyMark+strings.TrimPrefix(query.Get("NextPartitionKey"), emptyMark))
		if row := query.Get("NextRowKey"); row != "" {
			h.Set("x-ms-continuation-NextRowKey", row)
		}
	}
	return answer(req, http.StatusOK, h, []byte(`{"value":[]}`))
}
