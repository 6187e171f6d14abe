package table

import (
	"encoding/xml"
	"net/http"
	"strings"
	"time"

	"github.com/azpatterns/azpatterns/internal/emulator/rest"
)

// settings are the parts of the service properties, each as the XML that was
// set.
type settings struct {
	XMLName       xml.Name `xml:"StorageServiceProperties"`
	Logging       *rawXML  `xml:"Logging"`
	HourMetrics   *rawXML  `xml:"HourMetrics"`
	MinuteMetrics *rawXML  `xml:"MinuteMetrics"`
	Cors          *rawXML  `xml:"Cors"`
}

type rawXML struct {
	Inner string `xml:",innerxml"`
}

const maxCorsRules = 5

const noRetention = `<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>`

// defaultSettings are those of an account where nobody set any.
func defaultSettings() settings {
	metrics := &rawXML{`<Version>1.0</Version><Enabled>false</Enabled>` + noRetention}
	return settings{
		Logging:     &rawXML{`<Version>1.0</Version><Read>false</Read><Write>false</Write><Delete>false</Delete>` + noRetention},
		HourMetrics: metrics, MinuteMetrics: metrics, Cors: &rawXML{},
	}
}

// merge lays the parts of n that are there over s: what a document leaves out
// stays as it was.
func (s *settings) merge(n settings) {
	for _, part := range [...]struct{ old, set **rawXML }{
		{&s.Logging, &n.Logging}, {&s.HourMetrics, &n.HourMetrics}, {&s.MinuteMetrics, &n.MinuteMetrics}, {&s.Cors, &n.Cors},
	} {
		if *part.set != nil {
			*part.old = *part.set
		}
	}
}

// routeService serves the properties and statistics of the service. What is
// set is given back and has no other effect.
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
		s.propsMu.Lock()
		now := s.props
		s.propsMu.Unlock()
		return c.xml(now)
	case comp == "properties" && c.r.Method == http.MethodPut:
		return s.setProperties(c)
	case comp == "stats" && c.r.Method == http.MethodGet:
		c.w.Header()["Content-Type"] = []string{"application/xml"}
		c.send(http.StatusOK, []byte(xml.Header+`<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>`+
			time.Now().UTC().Format(http.TimeFormat)+`</LastSyncTime></GeoReplication></StorageServiceStats>`))
		return nil
	case comp == "properties" || comp == "stats":
		return errMethod
	}
	return errQueryParam
}

func (s *Service) setProperties(c *call) *rest.Error {
	body, err := rest.ReadBody(c.r, maxBody)
	if err != nil {
		return err
	}
	var doc settings
	if err := xml.Unmarshal(body, &doc); err != nil {
		return errXML
	}
	if doc.Cors != nil && strings.Count(doc.Cors.Inner, "</CorsRule>") > maxCorsRules {
		return errXML
	}
	s.propsMu.Lock()
	s.props.merge(doc)
	s.propsMu.Unlock()
	c.w.WriteHeader(http.StatusAccepted)
	return nil
}
