package table

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// Policy is a stored access policy of a table.
// https://learn.microsoft.com/rest/api/storageservices/set-table-acl
type Policy struct {
	ID            string
	Start, Expiry time.Time // zero: not set
	Permission    string    // of raud; "" where the signature says it
}

const (
	maxPolicies = 5
	maxPolicyID = 64 // characters
)

// Policies returns the stored access policies of a table, in any case of its
// name; nil when there is no such table.
func (s *Service) Policies(name string) []Policy {
	t, err := s.lookup(name)
	if err != nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.policies)
}

type policyXML struct {
	ID     string `xml:"Id"`
	Access *struct {
		Start      string `xml:"Start,omitempty"`
		Expiry     string `xml:"Expiry,omitempty"`
		Permission string `xml:"Permission,omitempty"`
	} `xml:"AccessPolicy"`
}

type policiesXML struct {
	XMLName xml.Name    `xml:"SignedIdentifiers"`
	List    []policyXML `xml:"SignedIdentifier"`
}

// routeXML serves what speaks XML: access policies and service properties.
func (s *Service) routeXML(c *call) *rest.Error {
	comp := c.query().Get("comp")
	if c.query().Get("restype") == "service" && strings.Trim(c.r.URL.Path, "/") == "" {
		return s.routeService(c, comp)
	}
	a, err := parseAddress(c.r.URL.Path)
	if err != nil {
		return err
	}
	if comp != "acl" || a.name == "" || a.parens {
		return errQueryParam
	}
	right := rest.ReadPolicies
	if c.r.Method == http.MethodPut {
		right = rest.WritePolicies
	}
	if err := c.side.Guards().Allow(right, a.name); err != nil {
		return err
	}
	t, err := s.lookup(a.name)
	if err != nil {
		return err
	}
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		t.mu.RLock()
		list := policiesXML{}
		for _, p := range t.policies {
			list.List = append(list.List, p.encode())
		}
		t.mu.RUnlock()
		return c.xml(list)
	case http.MethodPut:
		return s.setPolicies(c, t)
	}
	return errMethod
}

func (s *Service) setPolicies(c *call, t *table) *rest.Error {
	body, err := rest.ReadBody(c.r, maxBody)
	if err != nil {
		return err
	}
	policies, err := parsePolicies(body)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.policies = policies
	t.mu.Unlock()
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func parsePolicies(body []byte) ([]Policy, *rest.Error) {
	if len(body) == 0 {
		return nil, nil
	}
	var list policiesXML
	if err := xml.Unmarshal(body, &list); err != nil || len(list.List) > maxPolicies {
		return nil, errXML
	}
	var policies []Policy
	for _, x := range list.List {
		p := Policy{ID: x.ID}
		if p.ID == "" || len(p.ID) > maxPolicyID || slices.ContainsFunc(policies, func(q Policy) bool { return q.ID == p.ID }) {
			return nil, errXML
		}
		if x.Access != nil {
			var okStart, okExpiry bool
			p.Start, okStart = policyTime(x.Access.Start)
			p.Expiry, okExpiry = policyTime(x.Access.Expiry)
			p.Permission = x.Access.Permission
			if !okStart || !okExpiry || strings.Trim(p.Permission, "raud") != "" {
				return nil, errXML
			}
		}
		policies = append(policies, p)
	}
	return policies, nil
}

func policyTime(s string) (time.Time, bool) {
	if s = strings.TrimSpace(s); s == "" {
		return time.Time{}, true
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func (p Policy) encode() policyXML {
	x := policyXML{ID: p.ID}
	if p.Start.IsZero() && p.Expiry.IsZero() && p.Permission == "" {
		return x
	}
	x.Access = &struct {
		Start      string `xml:"Start,omitempty"`
		Expiry     string `xml:"Expiry,omitempty"`
		Permission string `xml:"Permission,omitempty"`
	}{Permission: p.Permission}
	if !p.Start.IsZero() {
		x.Access.Start = p.Start.Format(rest.TimeFormat)
	}
	if !p.Expiry.IsZero() {
		x.Access.Expiry = p.Expiry.Format(rest.TimeFormat)
	}
	return x
}

// xml answers with an XML document.
func (c *call) xml(v any) *rest.Error {
	b, err := xml.Marshal(v)
	if err != nil {
		return fail(http.StatusInternalServerError, "InternalError", "The server encountered an internal error.")
	}
	c.w.Header()["Content-Type"] = []string{"application/xml"}
	c.send(http.StatusOK, append([]byte(xml.Header), b...))
	return nil
}
