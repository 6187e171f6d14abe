package table

import (
	"net/http"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
	"github.com/azpatterns/azpatterns/internal/emulator/restxml"
)

// routeService serves the properties of the service. What is set is given back and
// has no other effect.
// https://learn.microsoft.com/rest/api/storageservices/set-table-service-properties
func (s *Service) routeService(c *call, comp string) *rest.Error {
	right := rest.ReadProperties
	if c.r.Method == http.MethodPut {
		right = rest.WriteProperties
	}
	if err := c.side.Guards().Allow(right, ""); err != nil {
		return err
	}
	switch {
	case comp == "properties" && c.r.Method == http.MethodGet:
		c.xml(s.props.XML(false))
		return nil
	case comp == "properties" && c.r.Method == http.MethodPut:
		return s.setProperties(c)
	case comp == "properties":
		return errMethod
	}
	return errQueryParam // statistics among them, which the secondary endpoint tells
}

func (s *Service) setProperties(c *call) *rest.Error {
	body, err := rest.ReadBody(c.r, restxml.MaxDocument)
	if err != nil {
		return err
	}
	p, err := restxml.ParseProperties(body, false)
	if err != nil {
		return err
	}
	s.props.Merge(p)
	c.w.WriteHeader(http.StatusAccepted)
	return nil
}
