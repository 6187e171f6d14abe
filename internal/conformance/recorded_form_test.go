package conformance

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// outcome is what a fact and a reply have in common if they agree.
type outcome struct{ status, code, names, form string }

// outcome returns the reply of a recording, without what the documentation of later versions contradicts: the recordings have the
// number of tags of every blob, although their versions do not have tags.
func (f *fact) outcome() outcome {
	names := strings.TrimSpace(strings.ReplaceAll(f.names+" ", " x-ms-tag-count ", " "))
	return outcome{fmt.Sprint(f.status), f.code, names, tagCount.ReplaceAllString(f.form, "")}
}

var tagCount = regexp.MustCompile(`,TagCount(\*\d+)?`)

func (a *recordedReply) outcome(s service) outcome {
	code := errorCode(a.Response, string(a.body))
	return outcome{fmt.Sprint(a.StatusCode), code[strings.LastIndexByte(code, ' ')+1:], headerNames(a.Header), formOf(s, a.body)}
}

// differs returns what differs, "" if nothing does.
func (o outcome) differs(want outcome) string {
	var all []string
	for _, d := range [...]struct{ what, got, want string }{
		{"status", o.status, want.status}, {"code", o.code, want.code}, {"headers", o.names, want.names}, {"body", o.form, want.form},
	} {
		switch {
		case d.got == d.want:
		case d.what == "headers":
			all = append(all, strings.TrimSpace("headers"+missing(d.want, d.got, " -")+missing(d.got, d.want, " +")))
		default:
			all = append(all, fmt.Sprintf("%s %s, recorded %s", d.what, d.got, d.want))
		}
	}
	return strings.Join(all, "; ")
}

// missing returns the words of a that b lacks, each after mark.
func missing(a, b, mark string) (words string) {
	has := strings.Fields(b)
	for _, w := range strings.Fields(a) {
		if !slices.Contains(has, w) {
			words += mark + w
		}
	}
	return words
}

// headerNames returns the names of the headers of a reply, without those that only the connection determines.
func headerNames(h http.Header) string {
	var names []string
	for name := range h {
		switch lower := strings.ToLower(name); lower {
		case "connection", "content-length", "transfer-encoding", "vary":
		default:
			names = append(names, lower)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

var partStatus = regexp.MustCompile(`HTTP/1\.1 (\d+)`)

// formOf returns the form of the body of a reply: the names of its elements or members and how many there are, the status of
// each part, or the number of its bytes.
func formOf(s service, body []byte) string {
	text := bytes.TrimPrefix(body, []byte("\uFEFF"))
	switch {
	case len(body) == 0:
		return ""
	case bytes.HasPrefix(text, []byte("<?xml")):
		if form, err := xmlForm(text); err == nil {
			return "xml:" + form
		}
	case s == tables && text[0] == '{':
		if form, err := jsonForm(text); err == nil {
			return "json:" + form
		}
	case bytes.HasPrefix(text, []byte("--")):
		var all []string
		for _, found := range partStatus.FindAllSubmatch(text, -1) {
			all = append(all, string(found[1]))
		}
		return "parts:" + strings.Join(all, ",")
	}
	return fmt.Sprintf("bytes:%d", len(body))
}

func jsonForm(text []byte) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return "", err
	}
	if members["odata.error"] != nil {
		return "error", nil
	}
	list, isList := members["value"]
	delete(members, "value")
	names := strings.Join(slices.Sorted(maps.Keys(members)), ",")
	if !isList {
		return "{" + names + "}", nil
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return "", err
	}
	all := map[string]bool{}
	for _, item := range items {
		for name := range item {
			all[name] = true
		}
	}
	return fmt.Sprintf("{%s value*%d{%s}}", names, len(items), strings.Join(slices.Sorted(maps.Keys(all)), ",")), nil
}

// node is an element of a document.
type node struct {
	XMLName xml.Name
	Nodes   []node `xml:",any"`
}

func xmlForm(text []byte) (string, error) {
	var top node
	if err := xml.Unmarshal(text, &top); err != nil {
		return "", err
	}
	return formOfNodes([]node{top}), nil
}

// formOfNodes returns the form of elements of one name.
func formOfNodes(nodes []node) string {
	name := nodes[0].XMLName.Local
	children := map[string][]node{}
	for _, n := range nodes {
		for _, c := range n.Nodes {
			children[c.XMLName.Local] = append(children[c.XMLName.Local], c)
		}
	}
	form := name
	if len(nodes) > 1 && name != "Metadata" {
		form += fmt.Sprintf("*%d", len(nodes))
	}
	var inner []string
	for _, n := range slices.Sorted(maps.Keys(children)) {
		if name == "Metadata" {
			inner = append(inner, n)
		} else {
			inner = append(inner, formOfNodes(children[n]))
		}
	}
	if len(inner) > 0 {
		form += "(" + strings.Join(inner, ",") + ")"
	}
	return form
}
