package govern

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/azpatterns/azpatterns/internal/azerr"
)

// reply is what a governor reads from the reply of a try.
type reply struct {
	answered  bool          // by the service
	retriable bool          // azcore sends the request again
	busy      bool          // because of load
	ofAccount bool          // beyond a target of the account
	after     time.Duration // Retry-After
}

// readReply reads the reply, of a refusal also the body. The client can read it again.
func readReply(resp *http.Response, err error) reply {
	if err != nil || resp == nil {
		var final interface{ NonRetriable() }
		return reply{retriable: !errors.As(err, &final) && !errors.Is(err, context.Canceled)}
	}
	r := reply{answered: true}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusGatewayTimeout:
		return reply{retriable: true}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError:
		r.retriable = true
		// https://learn.microsoft.com/rest/api/storageservices/common-rest-api-error-codes
		text := bodyOf(resp)
		r.busy = resp.StatusCode != http.StatusInternalServerError ||
			resp.Header.Get("X-Ms-Error-Code") == "OperationTimedOut" || bytes.Contains(text, []byte("OperationTimedOut"))
		r.ofAccount = bytes.Contains(text, []byte("over the account limit"))
		r.after = retryAfter(resp.Header)
	}
	return r
}

// maxBody is how many bytes of a refusal are read. The service sends less than one kilobyte.
const maxBody = 64 << 10

// bodyOf returns the start of the body of resp, which can be read again.
func bodyOf(resp *http.Response) []byte {
	if resp.Body == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	rest := io.Reader(resp.Body)
	if err != nil {
		rest = failing{err}
	}
	resp.Body = &restored{io.MultiReader(bytes.NewReader(text), rest), resp.Body}
	return text
}

type restored struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// maxAfter is the longest Retry-After that is honored.
const maxAfter = 5 * time.Minute

// retryAfter returns for how long the service asks not to be sent requests. A date is compared
// with that of the reply: the clock of this machine may differ.
func retryAfter(header http.Header) time.Duration {
	var after time.Duration
	for _, h := range [...]struct {
		name string
		unit time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"X-Ms-Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		value := header.Get(h.name)
		n, err := strconv.Atoi(value)
		if at, errDate := http.ParseTime(value); err != nil && errDate == nil {
			if sent, err := http.ParseTime(header.Get("Date")); err == nil {
				after = at.Sub(sent)
			}
		} else if n > 0 {
			after = time.Duration(min(n, int(maxAfter/time.Millisecond))) * h.unit
		}
		if after > 0 {
			break
		}
	}
	return min(max(after, 0), maxAfter)
}

const (
	// spareRetries is how many retries the requests to an account may make before they have earned
	// any. Each request, retries included, earns a share of one.
	spareRetries = 10

	// savedRetries is how many they may save, for the refusals of all requests in flight.
	savedRetries = 1_000
)

func (l *limiter) earn(share float64) { l.retries = min(l.retries+share, savedRetries) }

// spend reports whether a retry is permitted, and counts it. l may be nil.
func (l *limiter) spend() bool {
	if l == nil {
		return true
	}
	if l.retries < 1 {
		return false
	}
	l.retries--
	return true
}

// deny returns the error of a request that is not tried again.
func deny(resp *http.Response, err error) error {
	if err == nil {
		err = runtime.NewResponseError(resp)
		resp.Body.Close()
	}
	return azerr.Final(azerr.Errorf("%w: %w", ErrRetryBudget, azerr.Seal(err)))
}
