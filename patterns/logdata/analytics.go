package logdata

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// AnalyticsEntry is a line of the logs that Storage Analytics writes, in format 1.0 or
// 2.0. A field that is empty in the line has the zero value.
//
// https://learn.microsoft.com/rest/api/storageservices/storage-analytics-log-format
type AnalyticsEntry struct {
	Version         string // "1.0" or "2.0"
	Start           time.Time
	Operation       string // "GetBlob"
	Status          string // "Success", "ClientOtherError"
	HTTPStatus      string // mostly a number
	EndToEnd        time.Duration
	Server          time.Duration
	Authentication  string
	Requester       string // account
	Owner           string // account
	Service         string // "blob", "table" or "queue"
	URL             string
	Object          string // key of the requested object
	RequestID       string
	OperationNumber int // within the request, from 0
	IP              string
	APIVersion      string
	RequestHeader   int64 // in bytes, as the next four
	RequestPacket   int64
	ResponseHeader  int64
	ResponsePacket  int64
	ContentLength   int64
	RequestMD5      string
	ServerMD5       string
	ETag            string
	LastModified    time.Time
	Conditions      string
	UserAgent       string
	Referrer        string
	ClientRequestID string

	// In format 2.0 only.
	UserObjectID  string
	TenantID      string
	ApplicationID string
	Audience      string
	Issuer        string
	UserPrincipal string
	Reserved      string
	Authorization string // JSON
}

// Number of fields in a line.
const (
	fieldsV1 = 30
	fieldsV2 = 38
)

// ParseAnalytics parses a line in format 1.0 or 2.0, without its newline. The error is a
// [*LineError] that names the field.
//
// Of fields with a quote, a semicolon or an ampersand it accepts the documented form,
// HTML-encoded in double quotes, and those of the documented sample lines: raw quotes
// within the double quotes, as in ""0x8D4"" for an ETag and in the JSON of Authorization,
// and HTML-encoded without quotes, as in URLs.
func ParseAnalytics(line []byte) (AnalyticsEntry, error) {
	var e AnalyticsEntry
	fields, err := splitFields(line)
	if err != nil {
		return e, err
	}
	want, known := map[string]int{"1.0": fieldsV1, "2.0": fieldsV2}[fields[0]]
	if !known {
		return e, badLine("version-number", "is neither 1.0 nor 2.0")
	}
	if len(fields) != want {
		return e, badLine("", fmt.Sprintf("has %d fields, not %d", len(fields), want))
	}
	for i, text := range fields {
		f := analyticsFields[i]
		if text == "" {
			continue
		}
		if err := f.set(&e, text); err != nil {
			return AnalyticsEntry{}, badLine(f.name, err.Error())
		}
	}
	if e.Start.IsZero() {
		return AnalyticsEntry{}, badLine("request-start-time", "is empty")
	}
	return e, nil
}

// analyticsField is a field of a line.
type analyticsField struct {
	name string
	set  func(e *AnalyticsEntry, text string) error
}

// analyticsFields are the fields in the order of the line.
var analyticsFields = [fieldsV2]analyticsField{
	textField("version-number", func(e *AnalyticsEntry) *string { return &e.Version }),
	{"request-start-time", func(e *AnalyticsEntry, s string) (err error) {
		e.Start, err = parseAnyTime(s, time.RFC3339Nano)
		return
	}},
	textField("operation-type", func(e *AnalyticsEntry) *string { return &e.Operation }),
	textField("request-status", func(e *AnalyticsEntry) *string { return &e.Status }),
	textField("http-status-code", func(e *AnalyticsEntry) *string { return &e.HTTPStatus }),
	millisField("end-to-end-latency-in-ms", func(e *AnalyticsEntry) *time.Duration { return &e.EndToEnd }),
	millisField("server-latency-in-ms", func(e *AnalyticsEntry) *time.Duration { return &e.Server }),
	textField("authentication-type", func(e *AnalyticsEntry) *string { return &e.Authentication }),
	textField("requester-account-name", func(e *AnalyticsEntry) *string { return &e.Requester }),
	textField("owner-account-name", func(e *AnalyticsEntry) *string { return &e.Owner }),
	textField("service-type", func(e *AnalyticsEntry) *string { return &e.Service }),
	textField("request-url", func(e *AnalyticsEntry) *string { return &e.URL }),
	textField("requested-object-key", func(e *AnalyticsEntry) *string { return &e.Object }),
	textField("request-id-header", func(e *AnalyticsEntry) *string { return &e.RequestID }),
	{"operation-count", func(e *AnalyticsEntry, s string) error {
		n, err := parseCount(s)
		e.OperationNumber = int(n)
		return err
	}},
	textField("requester-ip-address", func(e *AnalyticsEntry) *string { return &e.IP }),
	textField("request-version-header", func(e *AnalyticsEntry) *string { return &e.APIVersion }),
	numberField("request-header-size", func(e *AnalyticsEntry) *int64 { return &e.RequestHeader }),
	numberField("request-packet-size", func(e *AnalyticsEntry) *int64 { return &e.RequestPacket }),
	numberField("response-header-size", func(e *AnalyticsEntry) *int64 { return &e.ResponseHeader }),
	numberField("response-packet-size", func(e *AnalyticsEntry) *int64 { return &e.ResponsePacket }),
	numberField("request-content-length", func(e *AnalyticsEntry) *int64 { return &e.ContentLength }),
	textField("request-md5", func(e *AnalyticsEntry) *string { return &e.RequestMD5 }),
	textField("server-md5", func(e *AnalyticsEntry) *string { return &e.ServerMD5 }),
	textField("etag-identifier", func(e *AnalyticsEntry) *string { return &e.ETag }),
	{"last-modified-time", func(e *AnalyticsEntry, s string) (err error) {
		e.LastModified, err = parseAnyTime(s, time.RFC850, time.RFC1123, time.RFC3339Nano)
		return
	}},
	textField("conditions-used", func(e *AnalyticsEntry) *string { return &e.Conditions }),
	textField("user-agent-header", func(e *AnalyticsEntry) *string { return &e.UserAgent }),
	textField("referrer-header", func(e *AnalyticsEntry) *string { return &e.Referrer }),
	textField("client-request-id", func(e *AnalyticsEntry) *string { return &e.ClientRequestID }),
	textField("user-object-id", func(e *AnalyticsEntry) *string { return &e.UserObjectID }),
	textField("tenant-id", func(e *AnalyticsEntry) *string { return &e.TenantID }),
	textField("application-id", func(e *AnalyticsEntry) *string { return &e.ApplicationID }),
	textField("audience", func(e *AnalyticsEntry) *string { return &e.Audience }),
	textField("issuer", func(e *AnalyticsEntry) *string { return &e.Issuer }),
	textField("user-principal-name", func(e *AnalyticsEntry) *string { return &e.UserPrincipal }),
	textField("reserved-field", func(e *AnalyticsEntry) *string { return &e.Reserved }),
	textField("authorization-detail", func(e *AnalyticsEntry) *string { return &e.Authorization }),
}

func textField(name string, at func(*AnalyticsEntry) *string) analyticsField {
	return analyticsField{name, func(e *AnalyticsEntry, s string) error { *at(e) = s; return nil }}
}

func numberField(name string, at func(*AnalyticsEntry) *int64) analyticsField {
	return analyticsField{name, func(e *AnalyticsEntry, s string) (err error) { *at(e), err = parseCount(s); return }}
}

func millisField(name string, at func(*AnalyticsEntry) *time.Duration) analyticsField {
	return analyticsField{name, func(e *AnalyticsEntry, s string) error {
		n, err := parseCount(s)
		*at(e) = time.Duration(n) * time.Millisecond
		return err
	}}
}

type fieldReason string

func (r fieldReason) Error() string { return string(r) }

// parseCount parses a whole number that is not negative and, as milliseconds, fits into a
// Duration.
func parseCount(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 43)
	if err != nil {
		return 0, fieldReason("is not a number or is too large")
	}
	return int64(n), nil
}

func parseAnyTime(s string, forms ...string) (time.Time, error) {
	for _, form := range forms {
		if t, err := time.Parse(form, s); err == nil {
			if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
				return time.Time{}, fieldReason(reasonYear)
			}
			return t, nil
		}
	}
	return time.Time{}, fieldReason("is not a time in a known form")
}

// AnalyticsReader reads the logs that Storage Analytics writes to the container $logs.
// It is safe for concurrent use and need not be closed.
//
// https://learn.microsoft.com/rest/api/storageservices/about-storage-analytics-logging
type AnalyticsReader struct{ source }

// NewAnalyticsReader returns a reader of the logs of a service: "blob", "table" or
// "queue". It makes no request. Its error matches [patterns.ErrBadOption] or [patterns.ErrNil].
func NewAnalyticsReader(client *container.Client, service string, opts *ReaderOptions) (*AnalyticsReader, error) {
	s, err := newSource(client, service, opts)
	if err != nil {
		return nil, fmt.Errorf("new analytics reader: %w", err)
	}
	return &AnalyticsReader{s}, nil
}

// Container returns the client that was passed to NewAnalyticsReader.
func (r *AnalyticsReader) Container() *container.Client { return r.container }

// AnalyticsReadOptions are the options of [AnalyticsReader.Read]. nil and the zero value
// mean the defaults.
type AnalyticsReadOptions struct {
	// Match, if not nil, selects entries. It is called concurrently and must not change
	// the entry.
	Match func(*AnalyticsEntry) bool

	// Stats, if not nil, receives what the read has done.
	Stats *Stats
}

// Read yields the entries of requests with from <= Start < to in the order of Start.
// Range, sequence, requests and errors are as in [Reader.Read].
//
// Storage Analytics files a request under the hour in which it ended, so Read also lists
// the hour after to. It does not read blobs whose StartTime and EndTime are outside the
// range. It yields an entry only once if it was written twice with the same request ID
// and operation number. Storage Analytics may deliver entries up to an hour late and may
// lose some.
func (r *AnalyticsReader) Read(ctx context.Context, from, to time.Time, opts *AnalyticsReadOptions) iter.Seq2[AnalyticsEntry, error] {
	return func(yield func(AnalyticsEntry, error) bool) {
		var o AnalyticsReadOptions
		if opts != nil {
			o = *opts
		}
		stats := o.Stats
		if stats == nil {
			stats = new(Stats)
		}
		*stats = Stats{}
		from, to, err := checkRange(from, to)
		if err != nil {
			yield(AnalyticsEntry{}, fmt.Errorf("read analytics log: %w", err))
			return
		}
		for f, err := range r.search(o.Match).run(ctx, from, to, position{}, stats) {
			if err != nil {
				err = fmt.Errorf("read analytics log: %w", err)
			}
			if !yield(f.value, err) {
				return
			}
		}
	}
}

func (r *AnalyticsReader) search(match func(*AnalyticsEntry) bool) *search[AnalyticsEntry] {
	if match == nil {
		match = func(*AnalyticsEntry) bool { return true }
	}
	return &search[AnalyticsEntry]{
		source:   r.source,
		maxDelay: hour,
		parse:    ParseAnalytics,
		time:     func(e *AnalyticsEntry) time.Time { return e.Start },
		match:    match,
		ranges:   analyticsRanges,
		same: func(a, b *AnalyticsEntry) bool {
			return a.RequestID != "" && a.RequestID == b.RequestID && a.OperationNumber == b.OperationNumber
		},
	}
}

// analyticsRanges returns all of the blob or nothing, depending on its StartTime and
// EndTime: the times, to the second, of its first and its last entry. Entries need not be
// in order, so the first and the last may not be the earliest and the latest. It therefore
// allows a minute on both sides.
func analyticsRanges(b listedBlob, from, to time.Time) []byteRange {
	start, err1 := time.Parse(metaTime, metaValue(b.metadata, metaStart))
	end, err2 := time.Parse(metaTime, metaValue(b.metadata, metaEnd))
	const slack = time.Minute
	if err1 == nil && err2 == nil && !end.Before(start) &&
		(!start.Add(-slack).Before(to) || !end.Add(time.Second+slack).After(from)) {
		return nil
	}
	return []byteRange{{0, b.size}}
}
