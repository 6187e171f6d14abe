package clone_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"github.com/azpatterns/azpatterns/internal/assert"
	"github.com/azpatterns/azpatterns/internal/clone"
)

type part struct{ Names []string }

type entity struct {
	part
	*Base
	Name    string
	Bytes   []byte
	Raw     json.RawMessage
	Map     map[string][]int
	Pointer *part
	Twice   **part
	Any     any
	List    []any
	Array   [2]*part
	Time    *time.Time
	EDM     aztables.EDMDateTime
	Again   *Node
}

type Base struct{ Numbers []int }

// Node refers to itself.
type Node struct {
	Children []*Node
	Parent   *Node
	Siblings map[string]any
}

func full() *entity {
	p, t := &part{[]string{"a"}}, time.Unix(1, 0)
	n := &Node{Siblings: map[string]any{}}
	n.Children, n.Siblings["self"] = []*Node{{Parent: n}}, n.Siblings
	return &entity{
		part{[]string{"b"}}, &Base{[]int{1}}, "n", []byte{1}, json.RawMessage("{}"), map[string][]int{"x": {1}, "nil": nil},
		p, &p, map[string]any{"list": []any{[]byte{1}}}, []any{p, nil}, [2]*part{p}, &t, aztables.EDMDateTime(t), n,
	}
}

func TestACopyIsEqualAndSharesNothing(t *testing.T) {
	e := full()
	c := clone.Of(e).(*entity)
	assert.DeepEqual(assert.Now(t), e, c, "is")
	c.Names[0], c.Numbers[0], c.Bytes[0], c.Raw[0], c.Map["x"][0], c.Pointer.Names[0] = "z", 9, 9, '[', 9, "z"
	c.Map["y"], c.Any.(map[string]any)["list"].([]any)[0].([]byte)[0] = nil, 9
	c.List[1], *c.Time = 9, time.Unix(9, 0)
	c.Again.Children[0].Parent.Siblings["more"] = 1
	assert.DeepEqual(t, e, full(), "the original was changed")
	if c.Pointer != *c.Twice || c.Pointer != c.List[0] || c.Pointer != c.Array[0] || c.Again.Children[0].Parent != c.Again {
		t.Error("what the original refers to twice, the copy does not")
	}
	if self := c.Again.Siblings["self"].(map[string]any); self["more"] != 1 {
		t.Error("the circle of the copy is none")
	}
}

func TestACopyOfAMapIsAnotherMap(t *testing.T) {
	m := map[string]any{"Data": []byte{1}}
	c := *clone.Of(&m).(*map[string]any)
	c["Data"].([]byte)[0], c["More"] = 9, 1
	assert.Equal(assert.Now(t), len(m), 1)
	assert.Equal(t, m["Data"].([]byte)[0], 1)
}

func TestACopyKeepsNilAndEmptyApart(t *testing.T) {
	type lists struct {
		Nil, Empty []int
		NoMap      map[string]int
		Map        map[string]int
	}
	e := &lists{Empty: []int{}, Map: map[string]int{}}
	if c := clone.Of(e).(*lists); c.Nil != nil || c.Empty == nil || c.NoMap != nil || c.Map == nil {
		t.Errorf("%#v", c)
	}
}

type hides struct{ names []string }

type skips struct {
	Ignored *part `table:"-"`
	JSON    *part `json:"-"`
	Stored  *part `table:"Stored" json:"-"`
}

func TestACopySharesWhatIsNoDataAndWhatCannotBeSet(t *testing.T) {
	type outer struct {
		Number *big.Int
		Hidden *hides
		Skips  skips
		Func   func()
	}
	e := &outer{big.NewInt(1), &hides{names: []string{"a"}}, skips{&part{}, &part{}, &part{}}, func() {}}
	c := clone.Of(e).(*outer)
	if c.Number != e.Number || c.Hidden != e.Hidden || c.Skips.Ignored != e.Skips.Ignored || c.Skips.JSON != e.Skips.JSON {
		t.Errorf("%+v", c)
	}
	if c.Skips.Stored == e.Skips.Stored {
		t.Error("a property is shared")
	}
}

func TestWholeKnowsWhichTypesHideMemory(t *testing.T) {
	type tree struct{ Children []tree }
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[string]():                           true,
		reflect.TypeFor[time.Time]():                        true,
		reflect.TypeFor[map[string]*part]():                 true,
		reflect.TypeFor[tree]():                             true,
		reflect.TypeFor[[3]map[int][]*time.Time]():          true,
		reflect.TypeFor[struct{ part }]():                   true,
		reflect.TypeFor[aztables.EDMDateTime]():             true,
		reflect.TypeFor[struct{ n int }]():                  true,
		reflect.TypeFor[any]():                              false,
		reflect.TypeFor[*big.Int]():                         false,
		reflect.TypeFor[[]hides]():                          false,
		reflect.TypeFor[map[*part]int]():                    false,
		reflect.TypeFor[skips]():                            false,
		reflect.TypeFor[struct{ F func() }]():               false,
		reflect.TypeFor[struct{ *part }]():                  false,
		reflect.TypeFor[struct{ M map[string][]any }]():     false,
		reflect.TypeFor[struct{ A, B []struct{ P any } }](): false,
	} {
		for range 2 {
			assert.Equal(t, clone.Whole(typ), want, typ, !want)
		}
	}
}
