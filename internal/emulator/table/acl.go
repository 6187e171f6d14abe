package table

import (
	"net/http"
	"strings"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// Policies are the stored access policies of a table, in any case of its name; nil
// when there is no such table. The caller must not change them.
func (s *Service) Policies(name string) []restxml.Policy {
	t, err := s.lookup(name)
	if err != nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.policies
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
		var policies []restxml.Policy
		if err := s.read(t, func() { policies = t.policies }); err != nil {
			return err
		}
		c.xml(restxml.PoliciesXML(policies))
		return nil
	case http.MethodPut:
		return s.setPolicies(c, t)
	}
	return errMethod
}

// https://learn.microsoft.com/rest/api/storageservices/set-table-acl
func (s *Service) setPolicies(c *call, t *table) *rest.Error {
	body, err := rest.ReadBody(c.r, restxml.MaxDocument)
	if err != nil {
		return err
	}
	policies, err := restxml.ParsePolicies(body, "raud")
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return s.missing(t.name)
	}
	t.policies = policies
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// xml answers with an XML document.
func (c *call) xml(x *restxml.XML) {
	c.w.Header()["Content-Type"] = []string{"application/xml"}
	c.send(http.StatusOK, x.Bytes())
}
