package fault_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/azpatterns/azpatterns/internal/fault"
)

type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

func TestTheBodyOfARequestThatIsNotSentIsClosed(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule fault.Rule
		gone bool // the context has ended already
	}{
		{"gone", fault.On("*").Delay(0), true},
		{"gone while it waits", fault.On("*").Delay(time.Hour), false},
		{"lost", fault.On("*").LoseRequest(), false},
		{"refused", fault.On("*").Status(503, "ServerBusy"), false},
	} {
		tr := fault.Wrap(&service{}, nil)
		tr.Fault(tt.rule)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if tt.gone {
			cancel()
		}
		closed := false
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/$batch", closing{strings.NewReader("--b"), &closed})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = tr.Do(req) // some end in an error
		cancel()
		if !closed {
			t.Errorf("%s: the body stays open", tt.name)
		}
	}
}
