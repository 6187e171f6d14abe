package main

import (
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/patterns"
	"github.com/azpatterns/azpatterns/patterns/govern"
	"github.com/azpatterns/azpatterns/patterns/regions"
	"github.com/azpatterns/azpatterns/patterns/shards"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// account is a storage account with two regions.
type account struct {
	shards.Account
	storage *storagetest.Account
	network *network
}

// openAll returns three new accounts.
func openAll() ([]*account, error) {
	a, err1 := open("a")
	b, err2 := open("b")
	c, err3 := open("c")
	return []*account{a, b, c}, errors.Join(err1, err2, err3)
}

// open returns a new account and its client.
func open(name string) (*account, error) {
	storage := storagetest.Start(nil)
	storage.Replicate(time.Second)
	storage.Throttle(&storagetest.Targets{Account: 2_000})

	// A program needs one Governor for all real accounts. These have the same name.
	governor, err := govern.New(nil)
	if err != nil {
		return nil, err
	}
	var pair regions.Pair
	a := &account{storage: storage, network: &network{inner: storage.Transport()}}
	opts := &aztables.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: a.network}}
	patterns.Accelerate(&opts.ClientOptions)
	governor.Attach(&opts.ClientOptions) // learns from the replies of each region
	pair.Attach(&opts.ClientOptions)     // sends a read to either
	service, err := aztables.NewServiceClientFromConnectionString(storage.ConnectionString(), opts)
	if err != nil {
		return nil, err
	}
	pair.Use(service)
	a.Account = shards.Account{Name: name, Tables: service}
	return a, nil
}

// network is the way to an account, with a round trip of 5 ms. It counts requests and refusals.
type network struct {
	inner         policy.Transporter
	sent, refused atomic.Int64
}

// Do sends a request.
func (n *network) Do(req *http.Request) (*http.Response, error) {
	n.sent.Add(1)
	select {
	case <-time.After(5 * time.Millisecond):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	resp, err := n.inner.Do(req)
	if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
		n.refused.Add(1)
	}
	return resp, err
}
