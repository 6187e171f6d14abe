package storagetest

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// Pages are shortened with a smaller $top, which every service supports. An empty page is
// created here. Its token, which leads to the page that was requested, is the token of the
// request with a prefix. The prefix is removed when the token is used.

const emptyMark = "azp-empty!"

var tokenNames = [...]string{"NextPartitionKey", "NextTableName"}

// shapeQuery changes the query of a request, and reports whether the request follows an
// empty page.
func (a *attempt) shapeQuery(req *http.Request) (again bool) {
	query := maps.Clone(a.r.Query)
	if query == nil {
		query = url.Values{}
	}
	for _, name := range tokenNames {
		if token, ok := strings.CutPrefix(query.Get(name), emptyMark); ok {
			again = true
			query.Set(name, token)
			if token == "" {
				query.Del(name)
			}
		}
	}
	n := a.effect.page.Rows
	if !again && n == 0 {
		return false
	}
	if n > 0 {
		if top, err := strconv.Atoi(query.Get("$top")); err != nil || top > n {
			query.Set("$top", strconv.Itoa(n))
		}
	}
	u := *req.URL
	u.RawQuery = query.Encode()
	req.URL, a.r.Query = &u, query
	return again
}

// emptyPage replies to a query with no rows and a token.
func (a *attempt) emptyPage(req *http.Request) *http.Response {
	h := http.Header{"Content-Type": {"application/json;odata=minimalmetadata;streaming=true;charset=utf-8"}}
	if a.r.Op == op.TableList {
		h.Set("x-ms-continuation-NextTableName", emptyMark+a.r.Query.Get("NextTableName"))
	} else {
		h.Set("x-ms-continuation-NextPartitionKey", emptyMark+a.r.Query.Get("NextPartitionKey"))
		if row := a.r.Query.Get("NextRowKey"); row != "" {
			h.Set("x-ms-continuation-NextRowKey", row)
		}
	}
	return newReply(req, http.StatusOK, h, []byte(`{"value":[]}`))
}
