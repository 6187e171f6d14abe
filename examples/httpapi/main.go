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
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
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
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	// An account in this process, which logs its requests. For a real one, replace acct.TablesWith(opts) by
	// aztables.NewServiceClient(url, credential, opts), and send by http.ListenAndServe(address, api(staff)).
	acct, opts := storagetest.Start(nil), new(aztables.ClientOptions)
	patterns.Accelerate(&opts.ClientOptions)
	staff, err := patterns.NewTable[Employee](acct.TablesWith(opts).NewClient("Staff"), nil)
	if err != nil {
		return err
	}
	if err := staff.Create(context.Background()); err != nil {
		return err
	}
	send := func(method, path, etag, body string) http.Header {
		acct.ResetLog()
		r, response := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
		r.Header.Set("If-Match", etag)
		api(staff).ServeHTTP(response, r)
		ops := acct.Log().Ops()
		fmt.Fprintf(w, "%-42s requests: %d %v\n  %d %v", method+" "+r.URL.Path, len(ops), ops, response.Code, response.Body)
		return response.Header()
	}

	// 1. Add employees; the last id is taken.
	for i, name := range []string{"Ken", "Ann", "Jun", "Joe"} {
		send("POST", fmt.Sprint("/staff/Sales/", min(i+1, 3)), "", fmt.Sprintf(`{"Name":%q}`, name))
	}
	// 2. Read an employee, and change it. The second change has an ETag that is not current any more.
	ken := send("GET", "/staff/Sales/1", "", "").Get("ETag")
	send("PUT", "/staff/Sales/1", ken, `{"Name":"Ken Kwok"}`)
	send("PUT", "/staff/Sales/1", ken, `{"Name":"Kenneth"}`)
	send("GET", "/staff/Sales/4", "", "")
	// 3. Read page by page. A cursor is valid for its own list only.
	next := send("GET", "/staff/Sales", "", "").Get("Next")
	send("GET", "/staff/Sales?cursor="+next, "", "")
	send("GET", "/staff/Marketing?cursor="+next, "", "")
	return nil
}
