package storagetest_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/harness"
	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/heat"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// counter is a transport of the caller.
type counter struct {
	inner policy.Transporter
	n     int
}

func (c *counter) Do(req *http.Request) (*http.Response, error) {
	c.n++
	return c.inner.Do(req)
}

// roundTripper is a transport of the caller in an http.Client.
type roundTripper struct{ *counter }

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return r.Do(req) }

// limited returns the transport that replaces t.
func limited(t policy.Transporter) policy.Transporter {
	opts := azcore.ClientOptions{Transport: t}
	patterns.LimitReplies(&opts)
	return opts.Transport
}

func TestClientsSendThroughTheTransportOfTheCaller(t *testing.T) {
	for name, wrap := range map[string]func(acct *storagetest.Account, c *counter) policy.Transporter{
		"the account inside": func(acct *storagetest.Account, c *counter) policy.Transporter { c.inner = acct.Transport(); return c },
		"the network inside": func(_ *storagetest.Account, c *counter) policy.Transporter {
			c.inner = limited(nil)
			return c
		},
		"a client of the caller inside": func(_ *storagetest.Account, c *counter) policy.Transporter {
			c.inner = limited(&http.Client{})
			return c
		},
		"limits outside": func(_ *storagetest.Account, c *counter) policy.Transporter {
			c.inner = limited(nil)
			return limited(c)
		},
		"in an http.Client": func(acct *storagetest.Account, c *counter) policy.Transporter {
			c.inner = acct.Transport()
			return &http.Client{Transport: roundTripper{c}}
		},
		"in an http.Client with limits": func(acct *storagetest.Account, c *counter) policy.Transporter {
			c.inner = acct.Transport()
			return limited(&http.Client{Transport: roundTripper{c}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			acct := storagetest.New(t)
			var c counter
			options := azcore.ClientOptions{Transport: wrap(acct, &c)}
			if _, err := acct.TablesWith(&aztables.ClientOptions{ClientOptions: options}).NewClient("people").CreateTable(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			assert.NoError(t, assert.ErrorOf(acct.QueueWith("jobs", &azqueue.ClientOptions{ClientOptions: options}).Create(t.Context(), nil)))
			assert.NoError(t, assert.ErrorOf(acct.ContainerWith("box", &container.ClientOptions{ClientOptions: options}).Create(t.Context(), nil)))
			if log := acct.Log(); c.n != 3 || len(log) != 3 {
				t.Errorf("the transport has seen %d requests, the account %d", c.n, len(log))
			}
		})
	}
}

func TestWithoutATransportOfTheCallerTheAccountIsTheNetwork(t *testing.T) {
	for name, o := range map[string]*aztables.ClientOptions{
		"no options":       nil,
		"no transport":     {},
		"accelerated":      harness.Accelerated(),
		"a client":         {ClientOptions: azcore.ClientOptions{Transport: &http.Client{Timeout: time.Minute}}},
		"another network":  {ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: &http.Transport{}}}},
		"a limited client": {ClientOptions: azcore.ClientOptions{Transport: limited(http.DefaultClient)}},
	} {
		acct := storagetest.New(t)
		assert.NoError(t, assert.ErrorOf(acct.TablesWith(o).NewClient("people").CreateTable(t.Context(), nil)), name)
		assert.Equal(t, len(acct.Log()), 1, name)
	}
}

func TestAnAttachedMeterSeesTheRequestsOfTheClient(t *testing.T) {
	acct := storagetest.New(t)
	meter := assert.Must(heat.NewMeter(nil))(t)
	governor := assert.Must(govern.New(nil))(t)
	opts := harness.Accelerated()
	meter.Attach(&opts.ClientOptions)
	governor.Attach(&opts.ClientOptions)
	client := acct.TablesWith(opts).NewClient("people")
	assert.NoError(t, assert.ErrorOf(client.CreateTable(t.Context(), nil)))
	put(t, client, "p", "1")
	if resources := meter.Snapshot().Resources; len(resources) == 0 || resources["tpeople"] == (heat.Counters{}) {
		t.Errorf("the meter has seen %v", resources)
	}
}

// Without bounds, another program could occupy the server by sending nothing.
func TestTheServerBoundsTheTimeForHeaders(t *testing.T) {
	server := assert.Must(storagetest.New(t).Serve())(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address := strings.TrimSuffix(strings.TrimPrefix(server.TablesURL, "http://"), "/"+storagetest.AccountName)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	assert.NoError(t, err)
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	assert.NoError(t, conn.SetReadDeadline(deadline))
	assert.NoError(t, assert.ErrorOf(io.WriteString(conn, "GET / HTTP/1.1\r\n")))
	_, err = bufio.NewReader(conn).ReadByte()
	assert.WantError(t, err, io.EOF, "the server did not close the connection")
}
