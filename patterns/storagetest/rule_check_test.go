package storagetest_test

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// mistake returns the text of the error that Fault returns for the rules.
func mistake(rules ...storagetest.Rule) string {
	if err := storagetest.Wrap(&service{}, nil).Fault(rules...); err != nil {
		return err.Error()
	}
	return ""
}

func TestARuleThatCanNeverActIsRefused(t *testing.T) {
	for _, pattern := range []string{"", "[", "Tabel.Insert", "Table.Inserts", "table.insert", "Table", "Blob.*Message"} {
		assert.Contains(t, mistake(storagetest.On(pattern).LoseReply()), strconv.Quote(pattern), "On", pattern)
	}
	if mistake(storagetest.On("Table.Insert").Nth(2)) == "" {
		t.Error("a rule without an effect is accepted")
	}
	if mistake(storagetest.Rule{}.LoseReply()) == "" {
		t.Error("a rule without an operation is accepted")
	}
	for _, rule := range []storagetest.Rule{
		storagetest.On("Table.Insert").EmptyPage(), storagetest.On("Table.Get").ShortPage(1), storagetest.On("Queue.Get").CutPage(1),
		storagetest.On("Blob.List").BoundaryPage(), storagetest.On("Table.*").NoMessages(), storagetest.On("Queue.Peek").Redeliver(), storagetest.On("Table.Get").LoseReply().ShortPage(1),
	} {
		if got := mistake(rule); !strings.Contains(got, rule.String()) || !strings.Contains(got, " is for ") {
			t.Errorf("%v: %v", rule, got)
		}
	}
	if got := mistake(
		storagetest.On("*").EmptyPage(), storagetest.On("Table.*").ShortPage(1), storagetest.On("Queue.ListQueues").EmptyPage(), storagetest.On("Blob.List").ShortPage(2), storagetest.On("Queue.*").Redeliver(),
		storagetest.On("*").Where(func(storagetest.Request) bool { return false }),
		storagetest.On("Table.Insert").Delay(0), storagetest.On("*").NoMessages(), storagetest.On("Table.*").CutReply(0),
	); got != "" {
		t.Error(got)
	}
}

func TestNoRuleIsAddedIfOneIsRefused(t *testing.T) {
	tr := storagetest.Wrap(&service{}, nil)
	assert.Failed(assert.Now(t), tr.Fault(storagetest.On("*").LoseRequest(), storagetest.On("*")), "accepted")
	assert.Equal(t, assert.ErrorOf(send(t, tr, http.MethodGet, base+"/People()", "")), nil)
}

func TestAnInvalidArgumentOfARuleIsRefused(t *testing.T) {
	rule := storagetest.On("Table.Insert")
	for want, invalid := range map[string]storagetest.Rule{
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
	assert.Equal(t, mistake(rule.Nth(1).Times(1).Probability(0).Probability(1).Status(304, "").Status(599, "X")), "")
}

func TestRulesWithoutARequestAreReported(t *testing.T) {
	tr := storagetest.Wrap(&service{}, nil)
	acts, cleared, idle := storagetest.On("Table.Insert").Delay(0), storagetest.On("Table.Insert").Nth(2).LoseReply(), storagetest.On("Table.*").Resource("Nobody").LoseReply()
	script(t, tr, acts, cleared)
	send(t, tr, http.MethodPost, base+"/People", "{}")
	tr.Clear()
	script(t, tr, idle, storagetest.On("*").Probability(0).LoseReply(), storagetest.On("*").Where(func(storagetest.Request) bool { return false }))
	send(t, tr, http.MethodPost, base+"/People", "{}")
	var reported []string
	for _, r := range tr.Idle() {
		reported = append(reported, r.String())
	}
	assert.EqualSlices(t, reported, []string{cleared.String(), idle.String()})
}
