package storagetest_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// A rule with a probability refuses some of the writes, and the same ones each time for one
// seed. An account of New logs the seed if its test fails.
func ExampleAccount_Seed() {
	var once aztables.ClientOptions
	once.Retry.MaxRetries = -1
	for range 2 {
		acct := storagetest.Start(&storagetest.Options{Seed: 42})
		people := acct.TablesWith(&once).NewClient("people")
		if _, err := people.CreateTable(context.Background(), nil); err != nil {
			fmt.Println(err)
		}
		acct.Fault(storagetest.On("Table.Insert").Probability(0.5).Status(503, "ServerBusy"))
		for i := range 10 {
			row := fmt.Appendf(nil, `{"PartitionKey":"p","RowKey":"%d"}`, i)
			if _, err := people.AddEntity(context.Background(), row, nil); err != nil {
				fmt.Print(i, " ")
			}
		}
		fmt.Println("refused, seed", acct.Seed())
	}
	// Output:
	// 0 2 3 5 6 8 9 refused, seed 42
	// 0 2 3 5 6 8 9 refused, seed 42
}

func TestAFailingTestPrintsTheSeedOfItsRandomFaults(t *testing.T) {
	out := inChild(t, "TestChildRandomFaults")
	if !regexp.MustCompile(`random faults were decided by seed \d+`).MatchString(out) {
		t.Error(out)
	}
}

func TestChildRandomFaults(t *testing.T) {
	if os.Getenv(mustFail) == "" {
		t.Skip("must fail; TestAFailingTestPrintsTheSeedOfItsRandomFaults runs it in a child process")
	}
	acct := storagetest.New(t)
	acct.Fault(storagetest.On("*").Probability(0.5).LoseReply())
	t.Fail()
}

// listener records the messages that are logged at the end of a test.
type listener struct {
	testing.TB
	ends   []func()
	logged []string
}

func (l *listener) Cleanup(f func()) { l.ends = append(l.ends, f) }

func (l *listener) Logf(format string, args ...any) {
	l.logged = append(l.logged, fmt.Sprintf(format, args...))
}

func TestRulesWithoutARequestAreLogged(t *testing.T) {
	l := &listener{TB: t}
	acct := storagetest.New(l)
	acct.Fault(
		storagetest.On("Table.CreateTable").Delay(0),
		storagetest.On("Table.Insert").Resource("poeple").LoseReply(),
	)
	assert.NoError(t, create(t.Context(), acct, "people"))
	for _, end := range l.ends {
		end()
	}
	if want := `storagetest: no request matched On("Table.Insert").Resource("poeple").LoseReply()`; len(l.logged) != 1 || l.logged[0] != want {
		t.Errorf("%q, want %s", l.logged, want)
	}
}
