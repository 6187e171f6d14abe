package api

import (
	"github.com/azpatterns/azpatterns/internal/assert"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

func TestEveryKindOfDeclarationHasItsLine(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "fixture.go", `package fixture
const Limit = 100
var Failed, hidden error
type Set[K comparable] struct { base; Items map[K]func(key K) bool; n int }
type base struct { Name string }
func (base) Promoted() {}
func (s *Set[K]) Add(key K, more ...K) error { return nil }
type Kind int
const First Kind = 1
func (k Kind) String() string { return "" }
type Caller interface { Call(n int); call() }
type Number interface { ~int | ~string }
type Alias = []Kind
func Map[T, U any](in []T, f func(v T) (out U)) []U { return nil }
`, 0)
	assert.NoError(t, err)
	pkg := assert.Must(new(types.Config).Check("fixture", fset, []*ast.File{file}, nil))(t)
	got := newDescriber([]*types.Package{pkg}).describe(pkg)
	want := []string{
		"const First fixture.Kind = 1",
		"const Limit untyped int = 100",
		"func Map[T any, U any]([]T, func(T) U) []U",
		"method (*Set) Add(K, ...K) error",
		"method (Kind) String() string",
		"method (Set) Promoted()",
		"type Alias = []fixture.Kind",
		"type Caller interface { Call, unexported methods }",
		"type Caller interface, Call(int)",
		"type Kind int",
		"type Number interface{~int | ~string}",
		"type Set struct, Items map[K]func(K) bool",
		"type Set struct, Name string",
		"type Set[K comparable] struct",
		"var Failed error",
	}
	assert.EqualSlices(t, got, want, "lines", strings.Join(got, "\n"), "want", strings.Join(want, "\n"))
}

func TestEveryDifferenceIsReported(t *testing.T) {
	same := []string{"p: a", "p: b"}
	if problems := compare(same, same, map[string]string{"p: c": "unused"}); len(problems) != 0 {
		t.Errorf("no difference: %q", problems)
	}
	for name, problems := range map[string][]string{
		"no package":           compare(nil, same, nil),
		"an empty record":      compare(same, nil, nil),
		"an added line":        compare(same, same[:1], nil),
		"a removed line":       compare(same[:1], same, nil),
		"no reason":            compare(same, same, map[string]string{"p: c": ""}),
		"a reason without use": compare(same, same, map[string]string{"p: a": "moved"}),
	} {
		if len(problems) == 0 {
			t.Errorf("%s is not reported", name)
		}
	}
}
