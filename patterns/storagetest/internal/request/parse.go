package request

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

// Parser parses requests. The zero value accepts the usual addresses.
type Parser struct {
	// Account is the name of the only account, which is then recognized in any address.
	// If it is "", the name of the account is the first label of the host, or the first
	// segment of the path if the host is an IP address or has no dots.
	Account string

	// Services names the service of a host ("127.0.0.1:34567") whose name does
	// not contain it.
	Services map[string]op.Service
}

// Parse parses req. It returns the parsed request, and the HTTP request to send instead of
// req, because Parse reads the bodies of some operations of the Table service.
func (p *Parser) Parse(req *http.Request) (*Request, *http.Request) {
	r := &Request{
		Service:    p.service(req),
		Method:     req.Method,
		Header:     canonicalHeader(req.Header),
		URL:        req.URL,
		RemoteAddr: req.RemoteAddr,
		HTTPS:      req.TLS != nil || strings.EqualFold(req.URL.Scheme, "https"),
		Result:     &Result{},
	}
	r.body, r.ContentLength = bodyOf(req)
	if n := r.ContentLength; n > 0 && r.Header["Content-Length"] == nil {
		r.Header["Content-Length"] = []string{strconv.FormatInt(n, 10)}
	}
	p.locate(r, req)
	if raw := req.URL.RawQuery; raw != "" {
		// $format=application/json;odata=… has a semicolon, which net/url refuses.
		query, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
		r.Query, r.BadQuery = query, err != nil
	}
	r.Op = op.Other(r.Service)
	switch r.Service {
	case op.Table:
		return r, r.parseTable(req)
	case op.Queue:
		r.parseQueue()
	case op.Blob:
		r.parseBlob()
	}
	return r, req
}

// canonicalHeader returns a copy of h, whose values must not be changed. The names
// of metadata keep their spelling, as they do in the service.
func canonicalHeader(h http.Header) http.Header {
	out := make(http.Header, len(h)+1)
	for name, values := range h {
		if len(name) < 10 || !strings.EqualFold(name[:10], "x-ms-meta-") {
			name = http.CanonicalHeaderKey(name)
		}
		if before := out[name]; len(before) > 0 { // in two spellings
			values = append(before[:len(before):len(before)], values...)
		}
		out[name] = values
	}
	return out
}

// azuritePorts are the default ports of Azurite.
var azuritePorts = map[string]op.Service{"10000": op.Blob, "10001": op.Queue, "10002": op.Table}

type serviceKey struct{}

// WithService returns a context for requests to s, regardless of their host.
func WithService(ctx context.Context, s op.Service) context.Context {
	return context.WithValue(ctx, serviceKey{}, s)
}

type servedKey struct{}

// Served returns a context for requests that arrived at a server. Headers of their replies are written with the names
// in the case in which they are stored.
func Served(ctx context.Context) context.Context {
	return context.WithValue(ctx, servedKey{}, true)
}

// IsServed reports whether ctx was made by Served.
func IsServed(ctx context.Context) bool { return ctx.Value(servedKey{}) != nil }

// service returns the service that a request is for, according to its context, its host, or
// the SDK package that sends it.
func (p *Parser) service(req *http.Request) op.Service {
	if s, ok := req.Context().Value(serviceKey{}).(op.Service); ok {
		return s
	}
	host := hostOf(req)
	for _, s := range [...]op.Service{op.Table, op.Queue, op.Blob} {
		if strings.Contains(host, "."+s.Path()+".") {
			return s
		}
	}
	if s, ok := p.Services[host]; ok {
		return s
	}
	if s, ok := azuritePorts[req.URL.Port()]; ok {
		return s
	}
	agent := req.Header.Get("User-Agent")
	switch {
	case strings.Contains(agent, "tables"):
		return op.Table
	case strings.Contains(agent, "azqueue"):
		return op.Queue
	case strings.Contains(agent, "azblob"):
		return op.Blob
	}
	return ""
}

func hostOf(req *http.Request) string {
	if req.URL.Host != "" {
		return req.URL.Host
	}
	return req.Host
}

// locate sets account, base and path.
func (p *Parser) locate(r *Request, req *http.Request) {
	scheme, host := "http", hostOf(req)
	if r.HTTPS {
		scheme = "https"
	}
	path := strings.TrimPrefix(req.URL.Path, "/")
	label, _, dotted := strings.Cut(host, ".")
	first, rest, _ := strings.Cut(path, "/")
	r.Base, r.Path = scheme+"://"+host, path
	switch {
	case p.Account != "" && dotted && strings.TrimSuffix(label, secondarySuffix) == p.Account:
		r.Account = label
	case p.Account != "" && strings.TrimSuffix(first, secondarySuffix) == p.Account, inPath(host):
		r.Account, r.Base, r.Path = first, r.Base+"/"+first, rest
	default:
		r.Account = label
	}
	r.Account, r.Secondary = strings.CutSuffix(r.Account, secondarySuffix)
}

// secondarySuffix follows the name of the account in the addresses of its secondary. The
// name of an account contains no dash.
// https://learn.microsoft.com/azure/storage/common/storage-redundancy#read-access-to-data-in-the-secondary-region
const secondarySuffix = "-secondary"

// inPath reports whether an account at host is the first segment of the path.
func inPath(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	for _, s := range [...]op.Service{op.Table, op.Queue, op.Blob} {
		if strings.Contains(host, "."+s.Path()+".") {
			return false
		}
	}
	return !strings.Contains(host, ".") || net.ParseIP(strings.Trim(host, "[]")) != nil
}
