package table

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/request"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

func TestTableNamesAreCheckedByTheRules(t *testing.T) {
	a := newAPI(t)
	for body, want := range map[string]struct {
		status int
		code   string
	}{
		`{"TableName":"abc"}`:                             {201, ""},
		`{"TableName":"` + strings.Repeat("x", 63) + `"}`: {201, ""},
		`{"TableName":"tésts"}`:                           {400, "InvalidResourceName"},
		`{"TableName":"$Metrics"}`:                        {400, "InvalidResourceName"},
		`{"TableName":5}`:                                 {400, "InvalidInput"},
		`{"TableName":null}`:                              {400, "PropertiesNeedValue"},
		`x`:                                               {400, "InvalidInput"},
	} {
		if p := a.do("POST", "/Tables", body); p.StatusCode != want.status || p.code != want.code {
			t.Errorf("%s: %d %s, want %d %s", body, p.StatusCode, p.code, want.status, want.code)
		}
	}
	a.want(409, "TableAlreadyExists", a.do("POST", "/Tables", `{"TableName":"ABC"}`))
	p := a.want(204, "", a.do("POST", "/Tables", `{"TableName":"quiet"}`, "Prefer: return-no-content"))
	assert.Equal(t, p.Header.Get("Preference-Applied"), "return-no-content", p.Header)
}

func TestATableNameMatchesInAnyCaseAndKeepsItsCase(t *testing.T) {
	a := newAPI(t)
	a.put("p", "r", "")
	a.want(200, "", a.do("GET", "/t12"+address2("p", "r"), ""))
	p := a.want(200, "", a.do("GET", "/Tables('t12')", ""))
	assert.Contains(t, p.body, `"TableName":"T12"`)
	a.want(404, "ResourceNotFound", a.do("GET", "/Tables('none')", ""))
	a.want(404, "ResourceNotFound", a.do("DELETE", "/Tables('none')", ""))
}

func TestTablesAreListedByNameInPages(t *testing.T) {
	a := newAPI(t)
	for _, n := range []string{"delta", "Alpha", "charlie", "Bravo"} {
		a.want(201, "", a.do("POST", "/Tables", `{"TableName":"`+n+`"}`))
	}
	list := func(query string) (names []string, pages int) {
		next := ""
		for {
			p := a.want(200, "", a.do("GET", "/Tables?x=1"+query+next, "", "Accept: application/json;odata=fullmetadata"))
			var page struct {
				Value []struct {
					TableName string
					ID        string `json:"odata.id"`
				}
			}
			assert.NoError(t, json.Unmarshal([]byte(p.body), &page))
			for _, v := range page.Value {
				names = append(names, v.TableName)
				assert.Equal(t, v.ID, "http://acct.table.example/Tables('"+v.TableName+"')", "id")
			}
			pages++
			token := p.Header.Get("x-ms-continuation-NextTableName")
			if token == "" {
				return names, pages
			}
			next = "&NextTableName=" + token
		}
	}
	all := []string{"Alpha", "Bravo", "charlie", "delta", "T12"}
	if got, pages := list(""); !slices.Equal(got, all) || pages != 1 {
		t.Errorf("%v in %d pages", got, pages)
	}
	if got, pages := list("&$top=2"); !slices.Equal(got, all) || pages != 3 {
		t.Errorf("%v in %d pages", got, pages)
	}
	if got, _ := list("&$filter=TableName ge 'a' and TableName lt 'd'"); !slices.Equal(got, []string{"charlie"}) {
		t.Errorf("%v", got)
	}
	a.s.page = request.Page{Scan: 1}
	if got, pages := list("&$filter=TableName eq 'T12'"); !slices.Equal(got, []string{"T12"}) || pages != 5 {
		t.Errorf("%v in %d pages", got, pages)
	}
	a.want(400, "InvalidInput", a.do("GET", "/Tables?NextTableName=x", ""))
}

func TestTheNameOfADeletedTableIsBlockedFor40Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(t)
		a.put("p", "r", "")
		a.want(204, "", a.do("DELETE", "/Tables('t12')", ""))
		a.want(409, "TableBeingDeleted", a.do("GET", "/T12"+address2("p", "r"), ""))
		a.want(409, "TableBeingDeleted", a.do("GET", "/T12()", ""))
		a.want(409, "TableBeingDeleted", a.do("POST", "/T12", `{"PartitionKey":"p","RowKey":"r"}`))
		a.want(404, "ResourceNotFound", a.do("DELETE", "/Tables('T12')", ""))
		a.want(404, "ResourceNotFound", a.do("GET", "/Tables('T12')", ""))
		if p := a.do("GET", "/Tables", ""); strings.Contains(p.body, "T12") {
			t.Errorf("still listed: %s", p.body)
		}
		time.Sleep(40*time.Second - time.Nanosecond)
		a.want(409, "TableBeingDeleted", a.do("POST", "/Tables", `{"TableName":"t12"}`))
		time.Sleep(time.Nanosecond)
		a.want(404, "TableNotFound", a.do("GET", "/T12()", ""))
		a.want(404, "ResourceNotFound", a.do("DELETE", "/Tables('T12')", ""))
		a.want(201, "", a.do("POST", "/Tables", `{"TableName":"t12"}`))
		a.want(404, "ResourceNotFound", a.do("GET", "/T12"+address2("p", "r"), ""))
	})
}

func TestAccessPoliciesAreStoredAndLimited(t *testing.T) {
	a := newAPI(t)
	policy := func(id string) string {
		return `<SignedIdentifier><Id>` + id + `</Id><AccessPolicy><Start>2026-01-01T00:00:00.0000000Z</Start><Expiry>2026-01-02</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier>`
	}
	doc := func(inner string) string {
		return `<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>` + inner + `</SignedIdentifiers>`
	}
	const at = "/T12?comp=acl"
	a.want(204, "", a.do("PUT", at, doc(policy("one")+`<SignedIdentifier><Id>two</Id></SignedIdentifier>`)))
	got := a.want(200, "", a.do("GET", at, ""))
	assert.Contains(t, got.body, "<Id>one</Id>")
	assert.Contains(t, got.body, "<Expiry>2026-01-02T00:00:00.0000000Z</Expiry>")
	p := a.s.Policies("t12")
	want := xmlservice.Policy{ID: "one", Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Expiry: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Permission: "raud"}
	if len(p) != 2 || p[0] != want || p[1] != (xmlservice.Policy{ID: "two"}) {
		t.Errorf("%+v", p)
	}
	for _, c := range []struct{ name, body, code string }{
		{"six", doc(policy("1") + policy("2") + policy("3") + policy("4") + policy("5") + policy("6")), "InvalidXmlDocument"},
		{"twice", doc(policy("1") + policy("1")), "InvalidXmlNodeValue"},
		{"no id", doc(policy("")), "InvalidXmlDocument"},
		{"long id", doc(policy(strings.Repeat("x", 65))), "InvalidXmlDocument"},
		{"bad time", doc(`<SignedIdentifier><Id>a</Id><AccessPolicy><Start>now</Start></AccessPolicy></SignedIdentifier>`), "InvalidXmlNodeValue"},
		{"bad right", doc(`<SignedIdentifier><Id>a</Id><AccessPolicy><Permission>rx</Permission></AccessPolicy></SignedIdentifier>`), "InvalidXmlNodeValue"},
		{"another node", doc(`<Other/>`), "InvalidXmlDocument"},
		{"other root", `<Other/>`, "InvalidXmlDocument"},
		{"broken", `<SignedIdentifiers>`, "InvalidXmlDocument"},
		{"much", doc(strings.Repeat(" ", 64<<10)), "RequestBodyTooLarge"},
	} {
		if p := a.do("PUT", at, c.body); p.StatusCode/100 != 4 || p.code != c.code {
			t.Errorf("%s: %d %s", c.name, p.StatusCode, p.code)
		}
	}
	if got := a.s.Policies("T12"); len(got) != 2 {
		t.Errorf("a refused document changed the policies: %+v", got)
	}
	a.want(204, "", a.do("PUT", at, ""))
	if got := a.s.Policies("T12"); got != nil {
		t.Errorf("%+v", got)
	}
	a.want(404, "TableNotFound", a.do("GET", "/none?comp=acl", ""))
}

func TestServicePropertiesAreReturned(t *testing.T) {
	a := newAPI(t)
	const at = "/?restype=service&comp=properties"
	a.want(200, "", a.do("GET", at, ""))
	doc := func(inner string) string { return "<StorageServiceProperties>" + inner + "</StorageServiceProperties>" }
	const (
		logging = "<Logging><Version>1.0</Version><Delete>false</Delete><Read>true</Read><Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>"
		rule    = "<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods><MaxAgeInSeconds>5</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders><AllowedHeaders></AllowedHeaders></CorsRule>"
	)
	a.want(202, "", a.do("PUT", at, doc(logging)))
	a.want(202, "", a.do("PUT", at, doc("<Cors>"+rule+"</Cors>")))
	p := a.want(200, "", a.do("GET", at, ""))
	for _, part := range []string{logging, "<HourMetrics><Version>1.0</Version><Enabled>false</Enabled>", "<Cors>" + rule + "</Cors>"} {
		assert.Contains(t, p.body, part, "is not in")
	}
	a.want(400, "InvalidXmlDocument", a.do("PUT", at, doc("<Cors>"+strings.Repeat(rule, 6)+"</Cors>")))
	a.want(400, "InvalidXmlDocument", a.do("PUT", at, "<x>"))
	a.want(400, "InvalidXmlDocument", a.do("PUT", at, doc("<Logging><Version>1.0</Version></Logging>")))
	a.want(400, "InvalidXmlDocument", a.do("PUT", at, doc("<StaticWebsite><Enabled>true</Enabled></StaticWebsite>")))
	a.want(405, "MethodNotAllowed", a.do("DELETE", at, ""))
	a.want(400, "InvalidQueryParameterValue", a.do("GET", "/?restype=service&comp=stats", ""))
}
