// Command httpapi serves a table over HTTP: pages with cursors, ETags, and the status of each error.
//
// Problem: the clients of a web service read long lists page by page, and change what others change too. A failed
// request must show whether to correct it, to read again, or to retry.
//
// Layout: the ETag of a row is the ETag of its resource. The header Next of a page is the cursor of the next one. Both
// are opaque and valid in every process of the service, so no process keeps a state.
//
//	POST /staff/Sales/1         201 and ETag                  409 the employee exists
//	GET  /staff/Sales/1         200 and ETag                  404 no such employee
//	PUT  /staff/Sales/1         200 and ETag, with If-Match   412 changed since it was read
//	GET  /staff/Sales?cursor=…  200 a page, and Next          400 bad cursor
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// Employee is the row, and the JSON of the API.
type Employee struct {
	Department string `table:"PartitionKey" json:"-"`
	ID         string `table:"RowKey"`
	Name       string
}

// status returns the status of the response to a failed request.
func status(err error) int {
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(patterns.ErrOutcomeUnknown): // the client should read before it repeats the request
		return http.StatusGatewayTimeout
	case is(patterns.ErrNotFound):
		return http.StatusNotFound
	case is(patterns.ErrExists):
		return http.StatusConflict
	case is(patterns.ErrConflict):
		return http.StatusPreconditionFailed
	case is(patterns.ErrThrottled):
		return http.StatusServiceUnavailable
	case is(patterns.ErrBadCursor), is(patterns.ErrBadKey), is(patterns.ErrBadETag), is(patterns.ErrTooLarge):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// api returns the handler of the API.
func api(staff *patterns.Table[Employee]) http.Handler {
	type item = patterns.Item[Employee]
	mux := http.NewServeMux()
	one := func(pattern string, code int, do func(context.Context, item) (item, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var e Employee
			if r.Method != http.MethodGet && json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&e) != nil {
				http.Error(w, "the body is not an employee", http.StatusBadRequest)
				return
			}
			e.Department, e.ID = r.PathValue("department"), r.PathValue("id")
			key, etag := keys.Key{Partition: e.Department, Row: e.ID}, azcore.ETag(r.Header.Get("If-Match"))
			result, err := do(r.Context(), item{Value: e, Key: key, ETag: etag})
			respond(w, code, "ETag", string(result.ETag), result.Value, err)
		})
	}
	one("POST /staff/{department}/{id}", http.StatusCreated, func(ctx context.Context, e item) (item, error) {
		return staff.Insert(ctx, &e.Value)
	})
	one("GET /staff/{department}/{id}", http.StatusOK, func(ctx context.Context, e item) (item, error) { return staff.Get(ctx, e.Key) })
	one("PUT /staff/{department}/{id}", http.StatusOK, staff.Replace)
	mux.HandleFunc("GET /staff/{department}", func(w http.ResponseWriter, r *http.Request) {
		department := query.PartitionKey.Eq(r.PathValue("department"))
		page, err := staff.Page(r.Context(), department, r.FormValue("cursor"), &patterns.QueryOptions{Limit: 2})
		employees := []Employee{} // can be empty although more pages follow
		for _, e := range page.Items {
			employees = append(employees, e.Value)
		}
		respond(w, http.StatusOK, "Next", page.Cursor, employees, err)
	})
	return mux
}

func respond(w http.ResponseWriter, code int, header, value string, body any, err error) {
	if err != nil {
		http.Error(w, err.Error(), status(err)) // the messages of the library contain neither keys nor values
		return
	}
	w.Header().Set(header, value)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func main() {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(&opts) by
	// aztables.NewServiceClient(url, credential, &opts), and the loop by http.ListenAndServe(address, api(staff)).
	acct, ctx := storagetest.Start(nil), context.Background()
	var opts aztables.ClientOptions
	patterns.Accelerate(&opts.ClientOptions)
	staff, err := patterns.NewTable[Employee](acct.TablesWith(&opts).NewClient("Staff"), nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := staff.Create(ctx); err != nil {
		log.Fatal(err)
	}
	var etag, next string // of the replies to GET
	for _, request := range []struct{ method, path, body string }{
		{"POST", "/staff/Sales/1", `{"Name":"Ken"}`},
		{"POST", "/staff/Sales/2", `{"Name":"Ann"}`},
		{"POST", "/staff/Sales/3", `{"Name":"Jun"}`},
		{"POST", "/staff/Sales/3", `{"Name":"Joe"}`}, // the id is taken
		{"GET", "/staff/Sales/1", ""},
		{"PUT", "/staff/Sales/1", `{"Name":"Ken Kwok"}`},
		{"PUT", "/staff/Sales/1", `{"Name":"Kenneth"}`}, // with an ETag that is not current any more
		{"GET", "/staff/Sales/4", ""},
		{"GET", "/staff/Sales", ""},
		{"GET", "/staff/Sales?cursor=", ""},     // the next page
		{"GET", "/staff/Marketing?cursor=", ""}, // a cursor is valid for its own list only
	} {
		acct.ResetLog()
		if strings.HasSuffix(request.path, "=") {
			request.path += next
		}
		r, reply := httptest.NewRequest(request.method, request.path, strings.NewReader(request.body)), httptest.NewRecorder()
		r.Header.Set("If-Match", etag)
		api(staff).ServeHTTP(reply, r)
		if request.method == http.MethodGet {
			etag, next = cmp.Or(reply.Header().Get("ETag"), etag), cmp.Or(reply.Header().Get("Next"), next)
		}
		fmt.Printf("%-42s requests: %d %v\n  %d %v", request.method+" "+r.URL.Path, len(acct.Log()), acct.Log().Ops(), reply.Code, reply.Body)
	}
}
