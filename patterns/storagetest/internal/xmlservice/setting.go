package xmlservice

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

// Properties are settings of a service: logging, metrics, CORS. They are stored and
// returned, and have no other effect.
// https://learn.microsoft.com/rest/api/storageservices/set-queue-service-properties
type Properties struct {
	roots map[string]*Node
}

// defaultVersion is the element that has no default.
const defaultVersion = "DefaultServiceVersion"

// defaults are the elements of a new account, in the order of a reply. Only the first ones are
// shared by all services; the others are of the Blob service.
var defaults = func() []*Node {
	const off = "<Enabled>false</Enabled>"
	const retention = "<RetentionPolicy>" + off + "</RetentionPolicy>"
	root, _ := ParseXML([]byte("<R>"+ // a constant
		"<Logging><Version>1.0</Version><Delete>false</Delete><Read>false</Read><Write>false</Write>"+retention+"</Logging>"+
		"<HourMetrics><Version>1.0</Version>"+off+retention+"</HourMetrics>"+
		"<MinuteMetrics><Version>1.0</Version>"+off+retention+"</MinuteMetrics><Cors/>"+
		"<"+defaultVersion+"/><DeleteRetentionPolicy>"+off+"</DeleteRetentionPolicy><StaticWebsite>"+off+"</StaticWebsite></R>"), "R")
	return root.Children
}()

const shared = 4

// Settings are the current Properties of a service. The zero value is that of a new
// account. It is safe for concurrent use.
type Settings struct {
	mu  sync.Mutex
	now Properties
}

// XML returns the document of a Get Service Properties reply.
func (s *Settings) XML(blob bool) *XML {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.xml(blob)
}

// Merge replaces the elements that newer contains.
func (s *Settings) Merge(newer Properties) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.roots == nil {
		s.now.roots = map[string]*Node{}
	}
	maps.Copy(s.now.roots, newer.roots)
}

// Copy reads the settings, and returns a function that stores them in to.
func (s *Settings) Copy(to *Settings) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := Properties{maps.Clone(s.now.roots)}
	return func() {
		to.mu.Lock()
		defer to.mu.Unlock()
		to.now = read
	}
}

// Settings carries out Get and Set Service Properties.
func (c *Call) Settings(s *Settings, blob bool) *reply.Error {
	switch c.Method {
	case http.MethodGet:
		return c.XML(http.StatusOK, s.XML(blob))
	case http.MethodPut:
		body, e := c.Body(MaxDocument)
		if e != nil {
			return e
		}
		p, e := ParseProperties(body, blob, c.Undecided)
		if e != nil {
			return e
		}
		s.Merge(p)
		return c.Empty(http.StatusAccepted)
	}
	return reply.UnsupportedVerb()
}

// ParseProperties parses the body of a Set Service Properties request. Elements that are
// omitted keep their settings, see [Settings.Merge]. undecided is [request.Request.Undecided].
func ParseProperties(body []byte, blob bool, undecided func(what, rule string, refusal *reply.Error) *reply.Error) (Properties, *reply.Error) {
	var p Properties
	root, e := ParseXML(body, "StorageServiceProperties")
	if e != nil {
		return p, e
	}
	if len(root.Children) == 0 && !blob { // recordings have the Blob service accept it, and issue 540 of azure-storage-python refuse it
		if e := undecided("StorageServiceProperties", "has no element; the Blob service has refused and accepted that", reply.InvalidXML("It has no element.")); e != nil {
			return p, e
		}
	}
	p.roots = map[string]*Node{}
	for _, k := range root.Children {
		i := slices.IndexFunc(defaults, func(d *Node) bool { return d.Name == k.Name })
		if i < 0 || i >= shared && !blob {
			return p, reply.UnknownXML(k.Name)
		}
		if p.roots[k.Name] != nil {
			return p, reply.InvalidXML("There are two elements " + k.Name + ".")
		}
		if e := checkRoot(k); e != nil {
			return p, e
		}
		p.roots[k.Name] = k
	}
	return p, nil
}

func checkRoot(n *Node) *reply.Error {
	switch n.Name {
	case "Logging":
		return checkSetting(n, "Delete", "Read", "Write")
	case "HourMetrics", "MinuteMetrics":
		return checkSetting(n, "Enabled")
	case "Cors":
		return checkCORS(n)
	case "DeleteRetentionPolicy":
		return checkRetention(n)
	case "StaticWebsite":
		return checkBools(n, "Enabled")
	}
	return nil
}

func checkSetting(n *Node, bools ...string) *reply.Error {
	if v := n.Value("Version"); v == "" {
		return reply.MissingXML("Version")
	} else if v != "1.0" && v != "2.0" {
		return reply.InvalidXMLValue("Version", v, "Unknown version.")
	}
	if e := checkBools(n, bools...); e != nil {
		return e
	}
	if n.enabled() && n.Child("IncludeAPIs") == nil {
		return reply.MissingXML("IncludeAPIs")
	}
	retention := n.Child("RetentionPolicy")
	if retention == nil {
		return reply.MissingXML("RetentionPolicy")
	}
	return checkRetention(retention)
}

func (n *Node) enabled() bool { return strings.EqualFold(n.Value("Enabled"), "true") }

func checkBools(n *Node, names ...string) *reply.Error {
	for _, name := range names {
		switch v := n.Value(name); strings.ToLower(v) { // the service also accepts True
		case "true", "false":
		case "":
			return reply.MissingXML(name)
		default:
			return reply.InvalidXMLValue(name, v, "Not true or false.")
		}
	}
	return nil
}

func checkRetention(n *Node) *reply.Error {
	if e := checkBools(n, "Enabled"); e != nil || !n.enabled() {
		return e
	}
	text := n.Value("Days")
	if text == "" {
		return reply.MissingXML("Days")
	}
	if days, err := strconv.Atoi(text); err != nil || days < 1 || days > 365 {
		return reply.InvalidXML("Days is not within 1 to 365.")
	}
	return nil
}

func checkCORS(n *Node) *reply.Error {
	if len(n.Children) > 5 {
		return reply.InvalidXML("There are more than 5 rules.")
	}
	for _, rule := range n.Children {
		if rule.Name != "CorsRule" {
			return reply.UnknownXML(rule.Name)
		}
		for _, name := range []string{"AllowedOrigins", "AllowedMethods", "MaxAgeInSeconds", "ExposedHeaders", "AllowedHeaders"} {
			if rule.Child(name) == nil {
				return reply.MissingXML(name)
			}
		}
		if age := rule.Value("MaxAgeInSeconds"); strings.Trim(age, "0123456789") != "" || age == "" {
			return reply.InvalidXMLValue("MaxAgeInSeconds", age, "Not a number.")
		}
		for method := range strings.SplitSeq(rule.Value("AllowedMethods"), ",") {
			switch strings.TrimSpace(method) {
			case "DELETE", "GET", "HEAD", "MERGE", "POST", "OPTIONS", "PUT", "PATCH":
			default:
				return reply.InvalidXMLValue("AllowedMethods", method, "Unknown method.")
			}
		}
	}
	return nil
}

func (p Properties) xml(blob bool) *XML {
	var x XML
	x.Begin("StorageServiceProperties")
	for i, d := range defaults {
		switch n := p.roots[d.Name]; {
		case n != nil:
			x.node(n)
		case d.Name != defaultVersion && (i < shared || blob):
			x.node(d)
		}
	}
	x.End("StorageServiceProperties")
	return &x
}

func (x *XML) node(n *Node) {
	if len(n.Children) == 0 {
		x.Text(n.Name, strings.TrimSpace(n.Text))
		return
	}
	x.Begin(n.Name)
	for _, k := range n.Children {
		x.node(k)
	}
	x.End(n.Name)
}

// Copies reads copies of the items of a service, all of them if name is "", and returns a function
// that passes each one to store, nil for an item that does not exist. The caller holds the lock of
// the service, and to is that of the service which store changes.
func Copies[T any](items map[string]*T, name string, copied func(*T) *T, to *sync.Mutex, store func(name string, item *T)) func() {
	copies := map[string]*T{}
	if name != "" {
		copies[name] = nil
	}
	for n, item := range items {
		if name == "" || name == n {
			copies[n] = copied(item)
		}
	}
	return func() {
		to.Lock()
		defer to.Unlock()
		for n, item := range copies {
			store(n, item)
		}
	}
}
