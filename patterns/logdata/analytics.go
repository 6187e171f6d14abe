package logdata

import (
	"fmt"
	"strconv"
	"time"
)

// AnalyticsEntry is a line of the logs that Storage Analytics writes, of format 1.0 or
// 2.0. A field that the line leaves empty has the zero value.
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
	Object          string // key of what was asked for
	RequestID       string
	OperationNumber int // of the operations of one request, from 0
	IP              string
	APIVersion      string
	RequestHeader   int64 // bytes, as the next five
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

	// Of format 2.0 only.
	UserObjectID  string
	TenantID      string
	ApplicationID string
	Audience      string
	Issuer        string
	UserPrincipal string
	Reserved      string
	Authorization string // JSON
}

// How many fields the lines have.
const (
	fieldsV1 = 30
	fieldsV2 = 38
)

// ParseAnalytics reads a line of format 1.0 or 2.0, without its newline. The error is
// a [*LineError] that names the field.
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

// analyticsField sets one field of a line.
type analyticsField struct {
	name string
	set  func(e *AnalyticsEntry, text string) error
}

// analyticsFields are in the order of the line.
var analyticsFields = [fieldsV2]analyticsField{
	textField("version-number", func(e *AnalyticsEntry) *string { return &e.Version }),
	{"request-start-time", func(e *AnalyticsEntry, s string) (err error) { e.Start, err = timeOf(s, time.RFC3339Nano); return }},
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
		n, err := numberIn(s)
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
		e.LastModified, err = timeOf(s, time.RFC850, time.RFC1123, time.RFC3339Nano)
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
	return analyticsField{name, func(e *AnalyticsEntry, s string) (err error) { *at(e), err = numberIn(s); return }}
}

func millisField(name string, at func(*AnalyticsEntry) *time.Duration) analyticsField {
	return analyticsField{name, func(e *AnalyticsEntry, s string) error {
		n, err := numberIn(s)
		*at(e) = time.Duration(n) * time.Millisecond
		return err
	}}
}

type fieldReason string

func (r fieldReason) Error() string { return string(r) }

// numberIn reads a count: whole, not negative, and such that as milliseconds it is a
// Duration.
func numberIn(s string) (int64, error) {
	n, err := strconv.ParseUint(s, 10, 43)
	if err != nil {
		return 0, fieldReason("is not a number, or too large")
	}
	return int64(n), nil
}

func timeOf(s string, forms ...string) (time.Time, error) {
	for _, form := range forms {
		if t, err := time.Parse(form, s); err == nil {
			if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
				return time.Time{}, fieldReason(reasonYear)
			}
			return t, nil
		}
	}
	return time.Time{}, fieldReason("is not a time of the form that is known")
}
