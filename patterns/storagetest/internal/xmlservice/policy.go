package xmlservice

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Policy is a stored access policy. A signature must set the fields that are zero in its
// policy.
// https://learn.microsoft.com/rest/api/storageservices/define-stored-access-policy
type Policy struct {
	ID            string
	Start, Expiry time.Time
	Permission    string
}

// maxPolicies is the largest number of policies of a container, queue or table.
const maxPolicies = 5

// MaxDocument is the largest size of small documents in bytes: policies, properties,
// tags.
const MaxDocument = 64 << 10

// Policies reads the SignedIdentifiers of a Set ACL request; an empty body
// removes them all. The letters of a Permission must be among allowed.
func (c *Call) Policies(allowed string) ([]Policy, *reply.Error) {
	body, e := c.Body(MaxDocument)
	if e != nil {
		return nil, e
	}
	return ParsePolicies(body, allowed)
}

// ParsePolicies parses a body as [Call.Policies] does.
func ParsePolicies(body []byte, allowed string) ([]Policy, *reply.Error) {
	if len(body) == 0 {
		return nil, nil
	}
	root, e := ParseXML(body, "SignedIdentifiers")
	if e != nil {
		return nil, e
	}
	if len(root.Children) > maxPolicies {
		return nil, reply.InvalidXML("There are more than 5 policies.")
	}
	var policies []Policy
	for _, k := range root.Children {
		if k.Name != "SignedIdentifier" {
			return nil, reply.UnknownXML(k.Name)
		}
		p, e := parsePolicy(k, allowed)
		if e != nil {
			return nil, e
		}
		for _, o := range policies {
			if o.ID == p.ID {
				return nil, reply.InvalidXMLValue("Id", p.ID, "Two identifiers are the same.")
			}
		}
		policies = append(policies, p)
	}
	return policies, nil
}

func parsePolicy(n *Node, allowed string) (p Policy, e *reply.Error) {
	p.ID = n.Value("Id")
	if p.ID == "" {
		return p, reply.MissingXML("Id")
	}
	if utf8.RuneCountInString(p.ID) > 64 {
		return p, reply.InvalidXML("An Id has more than 64 characters.")
	}
	access := n.Child("AccessPolicy")
	if p.Start, e = policyTime(access, "Start"); e != nil {
		return p, e
	}
	if p.Expiry, e = policyTime(access, "Expiry"); e != nil {
		return p, e
	}
	p.Permission = access.Value("Permission")
	if strings.Trim(p.Permission, allowed) != "" {
		return p, reply.InvalidXMLValue("Permission", p.Permission, "Unknown permission.")
	}
	return p, nil
}

var policyLayouts = []string{
	"2006-01-02T15:04:05.9999999Z", "2006-01-02T15:04Z", time.DateOnly, time.RFC3339Nano,
}

func policyTime(access *Node, name string) (time.Time, *reply.Error) {
	text := access.Value(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range policyLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, reply.InvalidXMLValue(name, text, "Not an ISO 8601 UTC time.")
}

// PoliciesXML returns the document of a Get ACL reply.
func PoliciesXML(policies []Policy) *XML {
	var x XML
	x.Begin("SignedIdentifiers")
	for _, p := range policies {
		x.Begin("SignedIdentifier")
		x.Text("Id", p.ID)
		if !p.Start.IsZero() || !p.Expiry.IsZero() || p.Permission != "" {
			x.Begin("AccessPolicy")
			if !p.Start.IsZero() {
				x.Text("Start", ISOTime(p.Start))
			}
			if !p.Expiry.IsZero() {
				x.Text("Expiry", ISOTime(p.Expiry))
			}
			x.Maybe("Permission", p.Permission)
			x.End("AccessPolicy")
		}
		x.End("SignedIdentifier")
	}
	x.End("SignedIdentifiers")
	return &x
}
