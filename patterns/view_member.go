package patterns

import (
	"fmt"
	"strings"

	"github.com/azpatterns/azpatterns/internal/edm"
	"github.com/azpatterns/azpatterns/keys"
)

// editList puts the primary into the list in row, or takes it out, and reports
// whether that changed anything. A row of somebody else's is a *takenError if the
// primary wants to be in it.
func (l *lens) editList(row content, primary keys.Key, wanted bool) (changed bool, err error) {
	own := edm.Properties{}
	for name, v := range row.Properties {
		if strings.HasPrefix(name, "azp_") {
			own[name] = v
			delete(row.Properties, name)
		}
	}
	defer func() {
		for name, v := range own {
			row.Properties[name] = v
		}
	}()
	fresh := len(own) == 0 && len(row.Properties) == 0
	if view, _ := own[propView].(string); view != l.name && !fresh {
		if wanted {
			err = &takenError{}
		}
		return false, err
	}
	own[propView] = l.name
	defer func() {
		if p := recover(); p != nil {
			changed, err = false, badView(l.name, "the list panicked with a %T", p)
		}
	}()
	if wanted {
		return l.shape.List.Add(row.Properties, primary)
	}
	return l.shape.List.Remove(row.Properties, primary)
}

// emptyList reports whether row is a list that nobody is in.
func (l *lens) emptyList(row content) (bool, error) {
	bare := edm.Properties{}
	for name, v := range row.Properties {
		if !strings.HasPrefix(name, "azp_") {
			bare[name] = v
		}
	}
	n, err := l.shape.List.Len(bare)
	if err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	return n == 0, nil
}
