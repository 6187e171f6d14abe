package fault_test

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/fakeaccount/fault"
	"github.com/azpatterns/azpatterns/internal/fakeaccount/op"
)

// mistake returns the text of the error that Fault returns for the rules.
func mistake(rules ...fault.Rule) string {
	if err := fault.Wrap(&service{}, nil).Fault(rules...); err != nil {
		return err.Error()
	}
	return ""
}

func TestARuleThatCanNeverActIsRefused(t *testing.T) {
	for _, pattern := range []string{"", "[", "Tabel.Insert", "Table.Inserts", "table.insert", "Table", "Blob.*Message"} {
		if got := mistake(fault.On(pattern).LoseReply()); !strings.Contains(got, strconv.Quote(pattern)) {
			t.Errorf("On(%q): %v", pattern, got)
		}
	}
	if mistake(fault.On("Table.Insert").Nth(2)) == "" {
		t.Error("a rule without an effect is accepted")
	}
	if mistake(fault.Rule{}.LoseReply()) == "" {
		t.Error("a rule without an operation is accepted")
	}
	for _, rule := range []fault.Rule{
		fault.On("Table.Insert").EmptyPage(), fault.On("Table.Get").ShortPage(1), fault.On("Queue.Get").CutPage(1),
		fault.On("Blob.List").BoundaryPage(), fault.On("Table.*").NoMessages(), fault.On("Queue.Peek").Redeliver(), fault.On("Table.Get").LoseReply().ShortPage(1),
	} {
		if got := mistake(rule); !strings.Contains(got, rule.String()) || !strings.Contains(got, " is for ") {
			t.Errorf("%v: %v", rule, got)
		}
	}
	if got := mistake(
		fault.On("*").EmptyPage(), fault.On("Table.*").ShortPage(1), fault.On("Queue.ListQueues").EmptyPage(), fault.On("Blob.List").ShortPage(2), fault.On("Queue.*").Redeliver(),
		fault.On("*").Where(func(fault.Request) bool { return false }),
		fault.On("Table.Insert").Delay(0), fault.On("*").NoMessages(), fault.On("Table.*").CutReply(0),
	); got != "" {
		t.Error(got)
	}
}

func TestNoRuleIsAddedIfOneIsRefused(t *testing.T) {
	tr := fault.Wrap(&service{}, nil)
	if err := tr.Fault(fault.On("*").LoseRequest(), fault.On("*")); err == nil {
		t.Fatal("accepted")
	}
	if _, err := send(t, tr, http.MethodGet, base+"/People()", ""); err != nil {
		t.Error(err)
	}
}

func TestAnInvalidArgumentOfARuleIsRefused(t *testing.T) {
	rule := fault.On("Table.Insert")
	for want, invalid := range map[string]fault.Rule{
		".Nth(0)":           rule.Nth(0),
		".Nth(-1)":          rule.Nth(-1),
		".Times(0)":         rule.Nth(2).Times(0),
		".Probability(1.5)": rule.Probability(1.5),
		".Probability(-1)":  rule.Probability(-1),
		".Probability(NaN)": rule.Probability(math.NaN()),
		".Status(0, ":       rule.Status(0, "ServerBusy"),
		".Status(200, ":     rule.Status(200, "ServerBusy"),
		".ShortPage(0)":     rule.ShortPage(0),
		".CutPage(0)":       rule.CutPage(0),
	} {
		if got := mistake(invalid.LoseReply()); !strings.Contains(got, `On("Table.Insert")`) || !strings.Contains(got, want) {
			t.Errorf("%s: %v", want, got)
		}
	}
	if got := mistake(rule.Nth(1).Times(1).Probability(0).Probability(1).Status(304, "").Status(599, "X")); got != "" {
		t.Error(got)
	}
}

func TestACountOfAnUnknownOperationIsNotZero(t *testing.T) {
	for _, pattern := range []string{"", "Tabel.*", "Table.Qeury"} {
		if n := (fault.Log{}).Count(pattern); n != -1 {
			t.Errorf("Count(%q) = %d", pattern, n)
		}
	}
	if n := (fault.Log{{Op: op.TableQuery}, {Op: op.Unknown}}).Count("*"); n != 2 {
		t.Errorf("%d requests", n)
	}
}

func TestRulesWithoutARequestAreReported(t *testing.T) {
	tr := fault.Wrap(&service{}, nil)
	acts, cleared, idle := fault.On("Table.Insert").Delay(0), fault.On("Table.Insert").Nth(2).LoseReply(), fault.On("Table.*").Resource("Nobody").LoseReply()
	script(t, tr, acts, cleared)
	send(t, tr, http.MethodPost, base+"/People", "{}")
	tr.Clear()
	script(t, tr, idle, fault.On("*").Probability(0).LoseReply(), fault.On("*").Where(func(fault.Request) bool { return false }))
	send(t, tr, http.MethodPost, base+"/People", "{}")
	var reported []string
	for _, r := range tr.Idle() {
		reported = append(reported, r.String())
	}
	if want := []string{cleared.String(), idle.String()}; !slices.Equal(reported, want) {
		t.Errorf("%q, want %q", reported, want)
	}
}
