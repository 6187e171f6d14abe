package access_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/access"
)

var accountKey = []byte("0123456789abcdef0123456789abcdef")

const serviceURL = "https://acct.table.core.windows.net"

func credential(t testing.TB) *aztables.SharedKeyCredential {
	t.Helper()
	cred := assert.Must(aztables.NewSharedKeyCredential("acct", base64.StdEncoding.EncodeToString(accountKey)))(t)
	return cred
}

var (
	century  = time.Date(2100, 1, 2, 3, 4, 5, 678, time.UTC)
	auckland = time.FixedZone("NZST", 12*60*60)
)

func TestTheSignedTextAndTheQueryAreTheDocumentedOnes(t *testing.T) {
	tests := []struct {
		name  string
		scope access.Scope
		text  string // the 12 lines that the documentation specifies
		query string // without sig
	}{
		{"whole table",
			access.Scope{Table: "Claims", Allow: access.Read, Expiry: century},
			"r\n\n2100-01-02T03:04:05Z\n/table/acct/claims\n\n\nhttps\n2019-02-02\n\n\n\n",
			"se=2100-01-02T03%3A04%3A05Z&sp=r&spr=https&sv=2019-02-02&tn=claims"},
		{"one partition, upsert",
			access.Scope{Table: "Claims", Range: access.Partition("O'Brien & co+"), Allow: access.Upsert | access.Read, Expiry: century},
			"rau\n\n2100-01-02T03:04:05Z\n/table/acct/claims\n\n\nhttps\n2019-02-02\nO'Brien & co+\n\nO'Brien & co+\n",
			"epk=O%27Brien%20%26%20co%2B&se=2100-01-02T03%3A04%3A05Z&sp=rau&spk=O%27Brien%20%26%20co%2B&spr=https&sv=2019-02-02&tn=claims"},
		{"rows of a partition",
			access.Scope{Table: "Claims", Range: access.Rows("p", keys.Prefix("email_a")), Allow: access.All, Expiry: century},
			"raud\n\n2100-01-02T03:04:05Z\n/table/acct/claims\n\n\nhttps\n2019-02-02\np\nemail_a\np\nemail_a\uFFFD",
			"epk=p&erk=email_a%EF%BF%BD&se=2100-01-02T03%3A04%3A05Z&sp=raud&spk=p&spr=https&srk=email_a&sv=2019-02-02&tn=claims"},
		{"partitions",
			access.Scope{Table: "Claims", Range: access.Partitions(keys.Range{From: "b", To: "d"}), Allow: access.Delete, Expiry: century},
			"d\n\n2100-01-02T03:04:05Z\n/table/acct/claims\n\n\nhttps\n2019-02-02\nb\n\nc\uFFFD\n",
			"epk=c%EF%BF%BD&se=2100-01-02T03%3A04%3A05Z&sp=d&spk=b&spr=https&sv=2019-02-02&tn=claims"},
		{"times in a zone, addresses, http",
			access.Scope{Table: "Claims", Allow: access.Add, Start: century.Add(-time.Hour).In(auckland), Expiry: century.In(auckland), AllowHTTP: true,
				IPs: access.IPRange{First: netip.MustParseAddr("10.0.0.1"), Last: netip.MustParseAddr("10.0.0.9")}},
			"a\n2100-01-02T02:04:05Z\n2100-01-02T03:04:05Z\n/table/acct/claims\n\n10.0.0.1-10.0.0.9\nhttps,http\n2019-02-02\n\n\n\n",
			"se=2100-01-02T03%3A04%3A05Z&sip=10.0.0.1-10.0.0.9&sp=a&spr=https%2Chttp&st=2100-01-02T02%3A04%3A05Z&sv=2019-02-02&tn=claims"},
		{"stored policy",
			access.Scope{Table: "Claims", Range: access.Partition("p"), Policy: "mobile"},
			"\n\n\n/table/acct/claims\nmobile\n\nhttps\n2019-02-02\np\n\np\n",
			"epk=p&si=mobile&spk=p&spr=https&sv=2019-02-02&tn=claims"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if n := strings.Count(test.text, "\n"); n != 11 {
				t.Fatalf("the text has %d lines, want 12", n+1)
			}
			token := assert.Must(access.Sign(credential(t), serviceURL, test.scope))(t)
			h := hmac.New(sha256.New, accountKey)
			h.Write([]byte(test.text))
			q := assert.Must(url.ParseQuery(token.Query()))(t)
			assert.Equal(t, q.Get("sig"), base64.StdEncoding.EncodeToString(h.Sum(nil)), "sig")
			q.Del("sig")
			assert.Equal(t, strings.ReplaceAll(q.Encode(), "+", "%20"), test.query, "query")
			if strings.Contains(token.Query(), "+") {
				t.Error("a plus sign in the query")
			}
			assert.Equal(t, token.URL(), serviceURL+"/Claims?"+token.Query(), "URL")
			if !token.Expiry().Equal(test.scope.Expiry.Truncate(time.Second)) { // as in "se"
				t.Errorf("expiry %v", token.Expiry())
			}
		})
	}
}

func TestPermissionLettersHaveTheRequiredOrder(t *testing.T) {
	for p, want := range map[access.Permission]string{0: "", access.Read: "r", access.Delete | access.Read: "rd",
		access.Upsert: "au", access.All: "raud", access.Update | access.Add | access.Read: "rau"} {
		assert.Equal(t, p.String(), want)
	}
}

func TestSignRefusesAnInvalidScope(t *testing.T) {
	good := access.Scope{Table: "Claims", Allow: access.Read, Expiry: century}
	addr := netip.MustParseAddr
	tests := []struct {
		name, field string
		change      func(s *access.Scope)
	}{
		{"no table", "Table", func(s *access.Scope) { s.Table = "" }},
		{"bad table", "Table", func(s *access.Scope) { s.Table = "my-table" }},
		{"no permission", "Allow", func(s *access.Scope) { s.Allow = 0 }},
		{"unknown permission", "Allow", func(s *access.Scope) { s.Allow = 64 }},
		{"no expiry", "Expiry", func(s *access.Scope) { s.Expiry = time.Time{} }},
		{"expired", "Expiry", func(s *access.Scope) { s.Expiry = time.Now().Add(-time.Second) }},
		{"year 10000", "Expiry", func(s *access.Scope) { s.Expiry = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"start at expiry", "Start", func(s *access.Scope) { s.Start = century }},
		{"start before the first year", "Start", func(s *access.Scope) { s.Start = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) }},
		{"long policy", "Policy", func(s *access.Scope) { s.Policy = strings.Repeat("ä", 65) }},
		{"IPv6", "IPs", func(s *access.Scope) { s.IPs.First = addr("::1") }},
		{"IPv6 last address", "IPs", func(s *access.Scope) { s.IPs = access.IPRange{First: addr("10.0.0.1"), Last: addr("::1")} }},
		{"no first address", "IPs", func(s *access.Scope) { s.IPs.Last = addr("10.0.0.1") }},
		{"addresses out of order", "IPs", func(s *access.Scope) { s.IPs = access.IPRange{First: addr("10.0.0.2"), Last: addr("10.0.0.1")} }},
		{"bad range", "Range", func(s *access.Scope) { s.Range = access.Partition("a/b") }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := good
			test.change(&s)
			wantField(t, signErr(t, serviceURL, s), test.field)
		})
	}
	for _, bad := range []string{"", "acct", "ftp://acct", "https://", "https://acct?sv=1", "https://u:p@acct", "https://acct#x", "http://acct.table.core.windows.net", "://"} {
		wantField(t, signErr(t, bad, good), "service URL")
	}
	_, err := access.Sign(nil, serviceURL, good)
	wantField(t, err, "credential")
}

func TestSignAcceptsEveryFormOfServiceURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://acct.table.core.windows.net/": "https://acct.table.core.windows.net/Claims?",
		"https://127.0.0.1:10002/acct":         "https://127.0.0.1:10002/acct/Claims?",
		"https://127.0.0.1:10002/acct/":        "https://127.0.0.1:10002/acct/Claims?",
		"https://acct.example?":                "https://acct.example/Claims?",
	} {
		// The limit of a policy id is in characters, not bytes.
		token, err := access.Sign(credential(t), in, access.Scope{Table: "Claims", Policy: strings.Repeat("ä", 64)})
		if err != nil || !strings.HasPrefix(token.URL(), want) {
			t.Errorf("%s: %s, %v", in, token, err)
		}
	}
}

func signErr(t *testing.T, serviceURL string, s access.Scope) error {
	t.Helper()
	token, err := access.Sign(credential(t), serviceURL, s)
	if err != nil && token != (access.Token{}) {
		t.Error("Sign returned a token and an error")
	}
	return err
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	var e *access.Error
	if !errors.As(err, &e) || e.Field != field {
		t.Errorf("got %v, want an error about %s", err, field)
	}
}

// A signature contains whole seconds. Sign truncates the times before it checks them, so
// that no signature is issued that has expired, or that ends before it starts.
func TestTimesAreCheckedAsSigned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(200 * time.Millisecond)
		scope := func(start, expiry time.Duration) access.Scope {
			s := access.Scope{Table: "Claims", Allow: access.Read, Expiry: time.Now().Add(expiry)}
			if start != 0 {
				s.Start = time.Now().Add(start)
			}
			return s
		}
		wantField(t, signErr(t, serviceURL, scope(0, 700*time.Millisecond)), "Expiry")
		wantField(t, signErr(t, serviceURL, scope(5*time.Second, 5700*time.Millisecond)), "Start")
		s := scope(-time.Second, 1900*time.Millisecond)
		token := assert.Must(access.Sign(credential(t), serviceURL, s))(t)
		if want := s.Expiry.Truncate(time.Second); !token.Expiry().Equal(want) {
			t.Errorf("expiry %v, signed %v", token.Expiry(), want)
		}
	})
}
