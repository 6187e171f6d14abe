package restxml

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// A Policy is a stored access policy. A zero time or empty permission was not
// given: then the signature has to give it.
// https://learn.microsoft.com/rest/api/storageservices/define-stored-access-policy
type Policy struct {
	ID            string
	Start, Expiry time.Time
	Permission    string
}

// maxPolicies is what a container, queue or table holds at most.
const maxPolicies = 5

// MaxDocument bounds the small documents: policies, properties, tags.
const MaxDocument = 64 << 10

// Policies reads the SignedIdentifiers of a Set ACL request; an empty body
// removes them all. Permission may hold letters of allowed only.
func (c *Call) Policies(allowed string) ([]Policy, *Error) {
	body, e := c.Body(MaxDocument)
	if e != nil {
		return nil, e
	}
	return ParsePolicies(body, allowed)
}

// ParsePolicies is Policies for a body that was read.
func ParsePolicies(body []byte, allowed string) ([]Policy, *Error) {
	if len(body) == 0 {
		return nil, nil
	}
	root, e := ParseXML(body, "SignedIdentifiers")
	if e != nil {
		return nil, e
	}
	if len(root.Kids) > maxPolicies {
		return nil, InvalidXML()
	}
	var policies []Policy
	for _, k := range root.Kids {
		if k.Name != "SignedIdentifier" {
			return nil, Refuse(http.StatusBadRequest, "UnsupportedXmlNode", "One of the XML nodes specified in the request body is not supported.", "XmlNodeName", k.Name)
		}
		p, e := parsePolicy(k, allowed)
		if e != nil {
			return nil, e
		}
		for _, o := range policies {
			if o.ID == p.ID {
				return nil, InvalidXMLValue("Id", p.ID, "Two identifiers are the same.")
			}
		}
		policies = append(policies, p)
	}
	return policies, nil
}

func parsePolicy(n *Node, allowed string) (p Policy, e *Error) {
	p.ID = n.Value("Id")
	if p.ID == "" {
		return p, MissingXML("Id")
	}
	if utf8.RuneCountInString(p.ID) > 64 {
		return p, InvalidXMLValue("Id", p.ID, "More than 64 characters.")
	}
	access := n.Kid("AccessPolicy")
	if p.Start, e = policyTime(access, "Start"); e != nil {
		return p, e
	}
	if p.Expiry, e = policyTime(access, "Expiry"); e != nil {
		return p, e
	}
	p.Permission = access.Value("Permission")
	if strings.Trim(p.Permission, allowed) != "" {
		return p, InvalidXMLValue("Permission", p.Permission, "Unknown permission.")
	}
	return p, nil
}

var policyLayouts = []string{
	"2006-01-02T15:04:05.9999999Z", "2006-01-02T15:04Z", time.DateOnly, time.RFC3339Nano,
}

func policyTime(access *Node, name string) (time.Time, *Error) {
	text := access.Value(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range policyLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, InvalidXMLValue(name, text, "Not an ISO 8601 UTC time.")
}

// PoliciesXML is the document of a Get ACL answer.
func PoliciesXML(policies []Policy) *XML {
	var x XML
	x.Begin("SignedIdentifiers")
	for _, p := range policies {
		x.Begin("SignedIdentifier")
		x.Text("Id", p.ID)
		x.Begin("AccessPolicy")
		if !p.Start.IsZero() {
			x.Text("Start", ISOTime(p.Start))
		}
		if !p.Expiry.IsZero() {
			x.Text("Expiry", ISOTime(p.Expiry))
		}
		x.Maybe("Permission", p.Permission)
		x.End("AccessPolicy")
		x.End("SignedIdentifier")
	}
	x.End("SignedIdentifiers")
	return &x
}
