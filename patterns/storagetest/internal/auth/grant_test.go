package auth

import (
	"os"
	"regexp"
	"testing"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/patterns/storagetest/internal/op"
)

func TestAGrantWithTheRequiredPermissionsPermitsEachOperation(t *testing.T) {
	source := assert.Must(os.ReadFile("../op/op.go"))(t)
	names := regexp.MustCompile(`Op += "([^"]+)"`).FindAllSubmatch(source, -1)
	if len(names) < 60 {
		t.Fatalf("%d operations", len(names))
	}
	everything := Grant{kind: AccountSAS, permissions: "rwdlacupxytfi", types: "sco"}
	nothing := Grant{kind: AccountSAS, types: "sco"}
	for _, name := range names {
		o := op.Op(name[1])
		assert.Equal(t, Owner().Allow(o, "x"), nil, o, "the owner is refused")
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
