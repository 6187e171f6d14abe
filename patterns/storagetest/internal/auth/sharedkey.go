package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// sharedKey verifies "account:signature".
// https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
func (v *Verifier) sharedKey(r *request.Request, lite bool, credential string) (Grant, *reply.Error) {
	account, signature, ok := strings.Cut(credential, ":")
	if !ok || account == "" || signature == "" {
		return Grant{}, badHeader("the credential is not of the form account:signature")
	}
	if account != v.Account {
		return Grant{}, unauthenticated("the credential names another account")
	}
	date := r.Header.Get("x-ms-date")
	if date == "" {
		date = r.Header.Get("Date")
	}
	if date == "" {
		return Grant{}, unauthenticated("neither x-ms-date nor Date is set")
	}
	at, err := http.ParseTime(date)
	if err != nil {
		return Grant{}, unauthenticated("the date header is malformed")
	}
	if off := v.now(r).Sub(at); off > Skew || off < -Skew {
		return Grant{}, unauthenticated("Request date header too old or too new: " + date)
	}
	texts := sharedKeyTexts(r, v.Account, lite)
	if r.Secondary {
		// If the account is in the path, SDKs sign that of the secondary. The service documents
		// that of the primary.
		for _, text := range texts {
			texts = append(texts, strings.Replace(text, "/"+v.Account+"-secondary", "/"+v.Account, 1))
		}
	}
	if !v.signed(signature, texts...) {
		return Grant{}, unauthenticated("The MAC signature found in the HTTP request is not the same as any computed signature. " +
			"Server used following string to sign: '" + texts[0] + "'.")
	}
	return Grant{kind: SharedKey}, nil
}

// signed reports whether signature, in base64, is the signature of one of the texts by one
// of the account's keys.
func (v *Verifier) signed(signature string, texts ...string) bool {
	mac, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(mac) != sha256.Size {
		return false
	}
	hashes, ok := v.macs.Get().(*[]hash.Hash) // creating one takes longer than the signature
	if !ok {
		hashes = new([]hash.Hash)
		for _, key := range v.Keys {
			*hashes = append(*hashes, hmac.New(sha256.New, key))
		}
	}
	defer v.macs.Put(hashes)
	for _, h := range *hashes {
		for _, text := range texts {
			h.Reset()
			h.Write([]byte(text))
			if hmac.Equal(h.Sum(nil), mac) {
				return true
			}
		}
	}
	return false
}

// sharedKeyTexts returns the strings that a correct client may have signed. If clients
// differ in the order of headers with punctuation, or in the meaning of a plus sign in the
// query, the service accepts all variants.
func sharedKeyTexts(r *request.Request, account string, lite bool) []string {
	get := func(name string) string { return strings.TrimSpace(r.Header.Get(name)) }
	date := get("Date")
	resource := "/" + account + escapedPath(r.URL)
	if r.Service == op.Table {
		// The Table service signs the date of either header.
		if d := get("x-ms-date"); d != "" {
			date = d
		}
		if lite {
			return []string{date + "\n" + resource + comp(r.URL)}
		}
		return []string{lines(r.Method, get("Content-MD5"), get("Content-Type"), date, resource+comp(r.URL))}
	}
	if get("x-ms-date") != "" {
		date = ""
	}
	var texts []string
	for _, headers := range canonicalHeaders(r.Header) {
		if lite {
			texts = append(texts, lines(r.Method, get("Content-MD5"), get("Content-Type"), date, headers, resource+comp(r.URL)))
			continue
		}
		for _, query := range canonicalQueries(r.URL.RawQuery) {
			texts = append(texts, lines(r.Method, get("Content-Encoding"), get("Content-Language"), contentLength(r),
				get("Content-MD5"), get("Content-Type"), date, get("If-Modified-Since"), get("If-Match"),
				get("If-None-Match"), get("If-Unmodified-Since"), get("Range"), headers, resource+query))
		}
	}
	return texts
}

func lines(s ...string) string { return strings.Join(s, "\n") }

// escapedPath returns the path as it was sent.
func escapedPath(u *url.URL) string {
	if path := u.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

// comp returns the only part of the query that the Table service and Shared Key Lite sign.
func comp(u *url.URL) string {
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err != nil || name != "comp" {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			return "?comp=" + value
		}
	}
	return ""
}

// contentLength returns the length as it is signed: since version 2015-02-21 the length of
// an empty body is signed as "".
func contentLength(r *request.Request) string {
	n := strings.TrimSpace(r.Header.Get("Content-Length"))
	if r.ContentLength > 0 {
		n = strconv.FormatInt(r.ContentLength, 10)
	}
	if n == "0" {
		if version := r.Header.Get("x-ms-version"); version == "" || version >= "2015-02-21" {
			return ""
		}
	}
	return n
}

// canonicalHeaders returns the x-ms- headers as lines "name:value", in the
// service's order and, if that differs, in byte order.
func canonicalHeaders(h http.Header) []string {
	var names []string
	values := make(map[string]string)
	for name, vs := range h {
		lower := strings.ToLower(strings.TrimSpace(name))
		if !strings.HasPrefix(lower, "x-ms-") {
			continue
		}
		if _, ok := values[lower]; !ok {
			names = append(names, lower)
		}
		trimmed := make([]string, len(vs))
		for i, v := range vs {
			trimmed[i] = strings.TrimSpace(v)
		}
		values[lower] = strings.Join(trimmed, ",")
	}
	text := func() string {
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = name + ":" + values[name]
		}
		return lines(out...)
	}
	slices.Sort(names)
	byteOrder := text()
	slices.SortStableFunc(names, compareHeaders)
	serviceOrder := text()
	if serviceOrder == byteOrder {
		return []string{serviceOrder}
	}
	return []string{serviceOrder, byteOrder}
}

// canonicalQueries returns the decoded query as lines "\nname:value,value", with each plus
// sign decoded as a space. If the query has a plus sign, it also returns the variant in
// which plus signs are kept.
func canonicalQueries(raw string) []string {
	if raw == "" {
		return []string{""}
	}
	texts := []string{canonicalQuery(raw, url.QueryUnescape)}
	if strings.Contains(raw, "+") {
		texts = append(texts, canonicalQuery(raw, url.PathUnescape))
	}
	return texts
}

func canonicalQuery(raw string, unescape func(string) (string, error)) string {
	decode := func(s string) string {
		if decoded, err := unescape(s); err == nil {
			return decoded
		}
		return s
	}
	values := make(map[string][]string)
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = strings.ToLower(decode(name))
		values[name] = append(values[name], decode(value))
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		slices.Sort(values[name])
		b.WriteString("\n" + name + ":" + strings.Join(values[name], ","))
	}
	return b.String()
}
