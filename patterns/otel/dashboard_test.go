package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/keys"
	"github.com/azpatterns/azpatterns/patterns/eventual"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
	"github.com/azpatterns/azpatterns/query"
)

// series are the names of the time series that Prometheus makes of metrics, each with its labels.
type series map[string]map[string]bool

// prometheus returns the name that Prometheus makes of one of OpenTelemetry.
//
// https://prometheus.io/docs/guides/opentelemetry/
func prometheus(name, unit string) string {
	suffix := map[string]string{"s": "_seconds", "min": "_minutes", "By": "_bytes"}[unit]
	name = strings.ReplaceAll(name, ".", "_")
	return strings.TrimSuffix(name, suffix) + suffix
}

// add adds the series of a metric.
func (all series) add(m metricdata.Metrics) {
	name := prometheus(m.Name, m.Unit)
	labels := map[string]bool{"job": true, "instance": true}
	add := func(attributes map[string]string) {
		for key := range attributes {
			labels[prometheus(key, "")] = true
		}
	}
	names := []string{name}
	switch d := m.Data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			add(attributes(p.Attributes.ToSlice()))
		}
		names = []string{name + "_count", name + "_sum"}
		buckets := maps.Clone(labels)
		buckets["le"] = true
		all[name+"_bucket"] = buckets
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			add(attributes(p.Attributes.ToSlice()))
		}
		names = []string{name + "_total"}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			add(attributes(p.Attributes.ToSlice()))
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			add(attributes(p.Attributes.ToSlice()))
		}
	}
	for _, name := range names {
		all[name] = labels
	}
}

// emitted returns the series of a program that uses tables, queues, a worker and blobs, each with a
// success and a failure.
func emitted(t *testing.T) series {
	all := series{}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ctx := t.Context()
		assert.NoError(t, assert.ErrorOf(w.telemetry.ObserveQueue(w.queue)))
		assert.NoError(t, assert.ErrorOf(w.telemetry.ObserveHeat(w.meter)))
		for range 2 {
			_, _ = w.table.Insert(ctx, &employee{"Sales" + secret, "1" + secret, secret})
		}
		assert.NoError(t, assert.ErrorOf(w.table.Get(ctx, keys.Key{Partition: "Sales" + secret, Row: "1" + secret})))
		for _, err := range w.table.Query(ctx, query.PartitionKey.Eq("Sales"+secret), nil) {
			must(t, err)
		}
		must(t, eventual.Enqueue(ctx, w.queue, "letter", secret, &eventual.EnqueueOptions{Tracing: w.provider}))
		w.acct.Fault(storagetest.On("Queue.Put").Status(403, "AuthorizationFailure"))
		_ = eventual.Enqueue(ctx, w.queue, "letter", secret, nil)
		worker := assert.Must(eventual.NewWorker(w.queue, &eventual.Options{Tracing: w.provider}))(t)
		eventual.Handle(worker, "letter", func(_ context.Context, job eventual.Job[string]) error {
			if job.Attempt == 1 {
				return nil
			}
			return errors.New(secret)
		})
		for attempt := range 2 {
			_ = worker.Process(ctx, `{"azp":1,"id":"op","kind":"letter","body":"`+secret+`"}`, attempt+1)
		}
		var blobs azcore.ClientOptions
		w.attach(&blobs)
		resp := assert.Must(blobs.Transport.Do(assert.Must(http.NewRequestWithContext(ctx, http.MethodGet, storagetest.BlobsURL+"/photos/1.jpg", nil))(t)))(t)
		must(t, resp.Body.Close())
		var read metricdata.ResourceMetrics
		must(t, w.reader.Collect(ctx, &read))
		for _, m := range read.ScopeMetrics[0].Metrics {
			all.add(m)
		}
	})
	return all
}

var (
	quoted   = regexp.MustCompile(`"[^"]*"`)
	rangeOf  = regexp.MustCompile(`\[[^\]]*\]`)
	grouping = regexp.MustCompile(`\b(by|without|on|ignoring)\s*\(([^)]*)\)`)
	selector = regexp.MustCompile(`\{([^}]*)\}`)
	word     = regexp.MustCompile(`\b[a-zA-Z_:][a-zA-Z0-9_:]*\b(\s*\()?`)
	label    = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
)

// These are the keywords and functions of PromQL that the files use.
var keywords, functions = []string{"or", "unless", "offset"}, []string{"sum", "rate", "increase", "max", "absent", "histogram_quantile", "label_values"}

// compare checks that each series and each label in an expression of PromQL is emitted. It returns how many
// series the expression has, and the labels by which it groups.
func (all series) compare(expr string) (compared int, by []string, err error) {
	text := quoted.ReplaceAllString(expr, `""`)
	text = rangeOf.ReplaceAllString(text, "")
	var used []string
	for _, m := range grouping.FindAllStringSubmatch(text, -1) {
		by = append(by, label.FindAllString(m[2], -1)...)
	}
	text = grouping.ReplaceAllString(text, "")
	for _, m := range selector.FindAllStringSubmatch(text, -1) {
		used = append(used, label.FindAllString(m[1], -1)...)
	}
	text = selector.ReplaceAllString(text, "")
	if rest, ok := strings.CutPrefix(text, "label_values("); ok {
		name, of, _ := strings.Cut(strings.TrimSuffix(rest, ")"), ",")
		text, used = name, append(used, strings.TrimSpace(of))
	}
	var names []string
	for _, m := range word.FindAllString(text, -1) {
		name, function := strings.CutSuffix(m, "(")
		switch name = strings.TrimSpace(name); {
		case slices.Contains(keywords, name), function && slices.Contains(functions, name):
		case function:
			return 0, nil, fmt.Errorf("unknown function %s", name)
		default:
			names = append(names, name)
		}
	}
	for _, name := range names {
		labels, ok := all[name]
		if !ok {
			return 0, nil, fmt.Errorf("%s is not emitted", name)
		}
		for _, l := range slices.Concat(used, by) {
			if !labels[l] {
				return 0, nil, fmt.Errorf("%s has no label %s", name, l)
			}
		}
	}
	if len(names) == 0 {
		return 0, nil, errors.New("no series is compared")
	}
	return len(names), by, nil
}

// dashboardOf are the parts of a dashboard of Grafana that contain names.
type dashboardOf struct {
	Templating struct {
		List []struct{ Type, Definition string }
	}
	Panels []struct {
		ID          int
		Type, Title string
		Targets     []struct{ Expr, LegendFormat string }
	}
}

var legend = regexp.MustCompile(`\{\{\s*([^}\s]+)\s*\}\}`)

// check compares all expressions of a dashboard.
func (d *dashboardOf) check(all series) (compared int, errs error) {
	ids := map[int]bool{}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			n, _, err := all.compare(v.Definition)
			compared, errs = compared+n, errors.Join(errs, err)
		}
	}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Type != "row" && len(p.Targets) == 0 {
			errs = errors.Join(errs, fmt.Errorf("%s: the id of another panel, or no target", p.Title))
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			n, by, err := all.compare(target.Expr)
			compared += n
			for _, m := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if err == nil && !slices.Contains(by, m[1]) {
					err = fmt.Errorf("the legend has %s, by which nothing is grouped", m[1])
				}
			}
			if err != nil {
				errs = errors.Join(errs, fmt.Errorf("%s: %w", p.Title, err))
			}
		}
	}
	if compared == 0 {
		errs = errors.Join(errs, errors.New("nothing is compared"))
	}
	return compared, errs
}

var (
	rule       = regexp.MustCompile(`(?m)^\s+- alert: (\S+)\n\s+expr: ([^#\n]+)`)
	annotation = regexp.MustCompile(`\$labels\.([a-z_]+)`)
)

// checkAlerts compares the expressions of alert rules.
func checkAlerts(text string, all series) (compared int, errs error) {
	rules := rule.FindAllStringSubmatchIndex(text, -1)
	if n := strings.Count(text, "alert:"); n == 0 || n != len(rules) || n != strings.Count(text, "expr:") {
		return 0, fmt.Errorf("%d rules, of which %d are compared", n, len(rules))
	}
	for i, at := range rules {
		end := len(text)
		if i+1 < len(rules) {
			end = rules[i+1][0]
		}
		n, by, err := all.compare(text[at[4]:at[5]])
		compared += n
		for _, m := range annotation.FindAllStringSubmatch(text[at[5]:end], -1) {
			if err == nil && !slices.Contains(by, m[1]) {
				err = fmt.Errorf("a text has %s, by which nothing is grouped", m[1])
			}
		}
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("%s: %w", text[at[2]:at[3]], err))
		}
	}
	return compared, errs
}

func TestTheDashboardAndTheAlertsUseOnlyWhatIsEmitted(t *testing.T) {
	all := emitted(t)
	var d dashboardOf
	text := assert.Must(os.ReadFile("dashboard/grafana.json"))(t)
	must(t, json.Unmarshal(text, &d))
	if compared, err := d.check(all); err != nil || compared < len(d.Panels) {
		t.Errorf("%d series compared: %v", compared, err)
	}
	alerts := string(assert.Must(os.ReadFile("dashboard/alerts.yaml"))(t))
	if compared, err := checkAlerts(alerts, all); err != nil || compared < 8 {
		t.Errorf("%d series compared: %v", compared, err)
	}

	// Each of these must be noticed.
	if _, err := new(dashboardOf).check(all); err == nil {
		t.Error("an empty dashboard passes")
	}
	if _, err := checkAlerts("groups: []", all); err == nil {
		t.Error("an empty file of rules passes")
	}
	for _, change := range [][2]string{
		{"azpatterns_operation_duration_seconds", "azpatterns_operation_duration"},
		{"azpatterns_queue_age_seconds", "azpatterns_queue_delay_seconds"},
		{"error_type", "error_code"},
		{"db_collection_name", "db_table_name"},
	} {
		changed := strings.ReplaceAll(string(text), change[0], change[1])
		var d dashboardOf
		must(t, json.Unmarshal([]byte(changed), &d))
		if _, err := d.check(all); err == nil {
			t.Errorf("the dashboard passes with %s", change[1])
		}
		if _, err := checkAlerts(strings.ReplaceAll(alerts, change[0], change[1]), all); err == nil {
			t.Errorf("the alerts pass with %s", change[1])
		}
	}
}
