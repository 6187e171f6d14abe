package auth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
)

// Versions at which the text of a SAS changed.
const (
	firstVersion      = "2015-04-05" // sip and spr; account SAS
	resourceVersion   = "2018-11-09" // blob SAS: sr and the snapshot
	encryptionVersion = "2020-12-06" // blob and account SAS: ses
)

// maxPolicyID is the length of the longest id of a stored access policy.
const maxPolicyID = 64

// sas verifies a shared access signature, which is in the query.
func (v *Verifier) sas(r *request.Request) (Grant, *reply.Error) {
	q := r.Query
	if version := q.Get("sv"); !isVersion(version) || version < firstVersion {
		return Grant{}, unauthenticated("sv is missing, malformed or before " + firstVersion)
	}
	if len(q["sig"]) > 1 {
		return Grant{}, unauthenticated("there is more than one sig")
	}
	if q.Has("skoid") {
		return Grant{}, unauthenticated("a user delegation SAS is not supported")
	}
	if q.Has("ss") || q.Has("srt") {
		return v.accountSAS(r, q)
	}
	return v.serviceSAS(r, q)
}

// accountSAS verifies an account SAS.
// https://learn.microsoft.com/rest/api/storageservices/create-account-sas
func (v *Verifier) accountSAS(r *request.Request, q url.Values) (Grant, *reply.Error) {
	permissions, services, types := q.Get("sp"), q.Get("ss"), q.Get("srt")
	if permissions == "" || !only(services, "bqtf") || !only(types, "sco") {
		return Grant{}, unauthenticated("an account SAS needs sp, ss and srt, and only known letters in them")
	}
	if q.Get("se") == "" || q.Get("si") != "" {
		return Grant{}, unauthenticated("an account SAS needs se, and must not have si")
	}
	if refusal := v.checkSignature(q, accountText(v.Account, q)); refusal != nil {
		return Grant{}, refusal
	}
	if refusal := v.checkFrame(r, q, StoredPolicy{}); refusal != nil {
		return Grant{}, refusal
	}
	if strings.IndexByte(services, r.Service.Path()[0]) < 0 {
		return Grant{}, wrongService()
	}
	return Grant{kind: AccountSAS, permissions: permissions, types: types}, nil
}

// serviceSAS verifies a SAS for a table, queue, container or blob.
// https://learn.microsoft.com/rest/api/storageservices/create-service-sas
func (v *Verifier) serviceSAS(r *request.Request, q url.Values) (Grant, *reply.Error) {
	g := Grant{kind: ServiceSAS}
	var texts []string
	switch r.Service {
	case op.Table:
		g.resource = strings.ToLower(q.Get("tn"))
		g.rows = KeyRange{q.Get("spk"), q.Get("srk"), q.Get("epk"), q.Get("erk")}
		if g.resource == "" {
			return Grant{}, unauthenticated("tn is mandatory")
		}
		if g.rows.StartPartition == "" && g.rows.StartRow != "" || g.rows.EndPartition == "" && g.rows.EndRow != "" {
			return Grant{}, unauthenticated("srk needs spk, and erk needs epk")
		}
		texts = []string{tableText(v.Account, g.resource, q)}
	case op.Queue:
		g.resource = r.Resource
		texts = []string{queueText(v.Account, g.resource, q)}
	case op.Blob:
		g.resource, g.blob = r.Resource, r.Name
		switch q.Get("sr") {
		case "c":
			g.blob = ""
		case "b", "bs":
			if g.blob == "" {
				return Grant{}, unauthenticated("a blob SAS does not permit access to the container")
			}
		default:
			return Grant{}, unauthenticated("sr is not c, b or bs")
		}
		texts = []string{blobText(v.Account, g.resource, g.blob, q)}
	}
	if refusal := v.checkSignature(q, texts...); refusal != nil {
		return Grant{}, refusal
	}

	var stored StoredPolicy
	if id := q.Get("si"); id != "" {
		ok := false
		if len(id) <= maxPolicyID && v.Policy != nil {
			stored, ok = v.Policy(r.Service, g.resource, id)
		}
		if !ok {
			return Grant{}, unauthenticated("no such stored access policy")
		}
	}
	g.permissions = q.Get("sp")
	if g.permissions != "" && stored.Permissions != "" {
		return Grant{}, unauthenticated("sp is set in the SAS and in the stored access policy")
	}
	if g.permissions == "" {
		g.permissions = stored.Permissions
	}
	if !inOrder(g.permissions, r.Service) {
		return Grant{}, unauthenticated("sp is missing, or its letters are unknown or out of order")
	}
	if refusal := v.checkFrame(r, q, stored); refusal != nil {
		return Grant{}, refusal
	}
	return g, nil
}

func (v *Verifier) checkSignature(q url.Values, texts ...string) *reply.Error {
	if !v.signed(q.Get("sig"), texts...) {
		return unauthenticated("Signature did not match. String to sign used was " + texts[0])
	}
	return nil
}

// checkFrame checks the restrictions of any SAS: times, protocol and address.
func (v *Verifier) checkFrame(r *request.Request, q url.Values, stored StoredPolicy) *reply.Error {
	start, ok := bound(q.Get("st"), stored.Start)
	if !ok {
		return unauthenticated("st is malformed, or also set in the stored access policy")
	}
	expiry, ok := bound(q.Get("se"), stored.Expiry)
	if !ok || expiry.IsZero() {
		return unauthenticated("se is missing, malformed, or also set in the stored access policy")
	}
	if now := v.now(r); now.Before(start) || !now.Before(expiry) {
		return unauthenticated("Signature not valid in the specified time frame: Start [" + start.UTC().Format(http.TimeFormat) +
			"] - Expiry [" + expiry.UTC().Format(http.TimeFormat) + "] - Current [" + now.UTC().Format(http.TimeFormat) + "]")
	}
	switch q.Get("spr") {
	case "", "https,http":
	case "https":
		if !r.HTTPS {
			return wrongProtocol()
		}
	default:
		return unauthenticated("spr is neither https nor https,http")
	}
	if sip := q.Get("sip"); sip != "" {
		addresses, err := parseAddresses(sip)
		if err != nil {
			return unauthenticated("sip is malformed")
		}
		if ip := source(r); !addresses.contain(ip) {
			return wrongAddress(ip.String())
		}
	}
	return nil
}

// bound returns the time that text or a stored policy sets, zero if neither does. It
// returns false if text is malformed or both set a time.
func bound(text string, stored time.Time) (time.Time, bool) {
	if text == "" {
		return stored, true
	}
	if !stored.IsZero() {
		return time.Time{}, false
	}
	for _, layout := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04Z", "2006-01-02", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

func isVersion(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// only reports whether s consists of one or more of the letters.
func only(s, letters string) bool {
	return s != "" && strings.Trim(s, letters) == ""
}

// inOrder reports whether the permissions of a service SAS are known letters. Those
// of tables and queues must be in the documented order, once each. The SDKs disagree
// about the order of the rarer blob permissions.
func inOrder(permissions string, s op.Service) bool {
	switch s {
	case op.Table:
		return subsequence(permissions, "raud")
	case op.Queue:
		return subsequence(permissions, "raup")
	}
	return only(permissions, "racwdxyltfmeopi")
}

// subsequence reports whether s is not empty and consists of some of the letters, in order.
func subsequence(s, letters string) bool {
	if s == "" {
		return false
	}
	for i := range len(s) {
		_, rest, ok := strings.Cut(letters, s[i:i+1])
		if !ok {
			return false
		}
		letters = rest
	}
	return true
}
