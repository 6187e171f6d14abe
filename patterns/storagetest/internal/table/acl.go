package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// Policies returns the stored access policies of a table, whose name may be in any case. It
// returns nil if the table does not exist. The caller must not change the policies.
func (s *Service) Policies(name string) []xmlservice.Policy {
	t := s.named(name)
	if t == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.policies
}

// carryOutACL reads or writes the access policies of a table.
func (s *Service) carryOutACL(c *call) *reply.Error {
	if err := c.grant.Allow(c.Op, c.Resource); err != nil {
		return err
	}
	t, err := s.lookup(c.Resource, c.Time())
	if err != nil {
		return err
	}
	if c.Op == op.TableSetACL {
		return s.setPolicies(c, t)
	}
	var policies []xmlservice.Policy
	if err := s.read(t, c.Time(), func() { policies = t.policies }); err != nil {
		return err
	}
	c.xml(xmlservice.PoliciesXML(policies))
	return nil
}

// https://learn.microsoft.com/rest/api/storageservices/set-table-acl
func (s *Service) setPolicies(c *call, t *table) *reply.Error {
	body, err := c.Body(xmlservice.MaxDocument)
	if err != nil {
		return err
	}
	policies, err := xmlservice.ParsePolicies(body, "raud")
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone {
		return s.missing(t.name, c.Time())
	}
	t.policies = policies
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// xml replies with an XML document.
func (c *call) xml(x *xmlservice.XML) {
	c.w.Header()["Content-Type"] = []string{"application/xml"}
	c.send(http.StatusOK, x.Bytes())
}
