package auth

import (
	"os"
	"regexp"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

func TestAGrantWithTheRequiredPermissionsPermitsEachOperation(t *testing.T) {
	source, err := os.ReadFile("../op/op.go")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`Op += "([^"]+)"`).FindAllSubmatch(source, -1)
	if len(names) < 60 {
		t.Fatalf("%d operations", len(names))
	}
	everything := Grant{kind: AccountSAS, permissions: "rwdlacupxytfi", types: "sco"}
	nothing := Grant{kind: AccountSAS, types: "sco"}
	for _, name := range names {
		o := op.Op(name[1])
		if refusal := Owner().Allow(o, "x"); refusal != nil {
			t.Errorf("%s: the owner is refused: %v", o, refusal)
		}
		if refusal := everything.Allow(o, "x"); (refusal == nil) != (o.Access().Account != "") {
			t.Errorf("%s: account SAS: %v", o, refusal)
		}
		if nothing.Allow(o, "x") == nil || (Grant{}).Allow(o, "x") == nil {
			t.Errorf("%s: permitted without permissions", o)
		}
	}
	if everything.Allow("Table.Unheard", "x") == nil {
		t.Error("an operation that does not exist is permitted")
	}
}
