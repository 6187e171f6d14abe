package storagetest_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/azpatterns/azpatterns/patterns/storagetest"
)

// The types of the fault script are declared in an internal package, whose
// documentation go doc does not show: their text here has to name what they have.
func TestTheTextOfATypeNamesWhatItHas(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "fault.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == gotoken.TYPE {
			texts[d.Specs[0].(*ast.TypeSpec).Name.Name] = strings.Join(strings.Fields(d.Doc.Text()), " ")
		}
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[storagetest.Rule](), reflect.TypeFor[storagetest.Request](), reflect.TypeFor[storagetest.Log](),
		reflect.TypeFor[storagetest.LostError](), reflect.TypeFor[storagetest.Key](),
	} {
		text := texts[typ.Name()]
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			if typ.Kind() == reflect.Struct && m.Name == "String" && strings.Contains(text, "String is") {
				continue
			}
			want := "func (" + typ.Name() + ") " + m.Name + "("
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", typ.Name(), want)
			}
		}
		for i := 0; typ.Kind() == reflect.Struct && i < typ.NumField(); i++ {
			if f := typ.Field(i); f.IsExported() && !strings.Contains(" "+text, " "+f.Name) {
				t.Errorf("%s lacks %s", typ.Name(), f.Name)
			}
		}
	}
	for name := range texts {
		if texts[name] == "" {
			t.Errorf("%s has no text", name)
		}
	}
}
