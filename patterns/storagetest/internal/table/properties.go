package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/xmlservice"
)

// carryOutOnService reads or writes the properties of the service. They are stored
// and returned, and have no other effect.
// https://learn.microsoft.com/rest/api/storageservices/set-table-service-properties
func (s *Service) carryOutOnService(c *call) *reply.Error {
	if err := c.grant.Allow(c.Op, ""); err != nil {
		return err
	}
	switch c.Op {
	case op.TableGetProperties:
		c.xml(s.props.XML(false))
		return nil
	case op.TableSetProperties:
		return s.setProperties(c)
	}
	return errQueryParam.Because("comp: statistics are read from the secondary endpoint")
}

func (s *Service) setProperties(c *call) *reply.Error {
	body, err := c.Body(xmlservice.MaxDocument)
	if err != nil {
		return err
	}
	p, err := xmlservice.ParseProperties(body, false, c.Undecided)
	if err != nil {
		return err
	}
	s.props.Merge(p)
	c.w.WriteHeader(http.StatusAccepted)
	return nil
}
