package table

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/filter"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/reply"
)

const (
	maxTop    = 1000
	maxSelect = 255
)

// options are the query options of a read.
// https://learn.microsoft.com/rest/api/storageservices/querying-tables-and-entities
type options struct {
	filter filter.Filter
	top    int
	names  []string // nil means every property
}

// unsupported contains the OData options that the service does not support.
var unsupported = []string{"$orderby", "$skip", "$skiptoken", "$count", "$inlinecount", "$expand", "$search", "$apply"}

func parseOptions(q url.Values) (options, *reply.Error) {
	o := options{top: maxTop}
	for _, name := range unsupported {
		if q.Has(name) {
			return o, errNotImplemented
		}
	}
	var err *reply.Error
	if o.filter, err = parseFilter(q.Get("$filter")); err != nil {
		return o, err
	}
	if q.Has("$top") {
		n, err := strconv.Atoi(q.Get("$top"))
		if err != nil || n < 1 || n > maxTop {
			return o, errInvalidInput.Because("$top: a number from 1 to 1000")
		}
		o.top = n
	}
	o.names, err = parseSelect(q.Get("$select"))
	return o, err
}

func parseSelect(text string) ([]string, *reply.Error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		if name == "*" {
			return nil, nil
		}
		if err := checkName(name); err != nil {
			return nil, errInvalidInput.Because("$select: " + strconv.Quote(name) + " is not the name of a property")
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) > maxSelect {
			return nil, errInvalidInput.Because("$select: at most 255 names")
		}
	}
	return names, nil
}
