package otel

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/heat"
)

func TestEveryCounterOfHeatIsOneGauge(t *testing.T) {
	var names []string
	var zero heat.Counters
	for i := range reflect.TypeFor[heat.Counters]().NumField() {
		var values heat.Counters
		reflect.ValueOf(&values).Elem().Field(i).SetFloat(1000)
		var of []string
		for _, c := range counters {
			if c.value(&values) != c.value(&zero) {
				of = append(of, c.name)
			}
		}
		if len(of) != 1 {
			t.Errorf("%s is %q", reflect.TypeFor[heat.Counters]().Field(i).Name, of)
		}
		names = append(names, of...)
	}
	slices.Sort(names)
	if len(names) != len(counters) || len(slices.Compact(slices.Clone(names))) != len(counters) {
		t.Errorf("%d gauges: %q", len(counters), names)
	}
	for _, name := range names { // the rule of OpenTelemetry: no name is the namespace of another
		if slices.ContainsFunc(names, func(other string) bool { return strings.HasPrefix(other, name+".") }) {
			t.Errorf("%s is a namespace", name)
		}
	}
}

func TestACounterIsRecordedForTheResourcesThatCanHaveIt(t *testing.T) {
	for resource, want := range map[string]string{"tEmployees": "t", "qwork": "q", "bphotos": "b", "": "c"} {
		service, _ := resourceOf(resource)
		recorded := 0
		for _, c := range counters {
			if strings.Contains(c.of, service) {
				recorded++
			}
		}
		if service != want || recorded == 0 {
			t.Errorf("%q: %s, %d counters", resource, service, recorded)
		}
	}
}
