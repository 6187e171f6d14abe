package patterns

import "github.com/azpatterns/azpatterns/query"

// Explain gives the plan by which [Table.Query] and [Table.Page] would read what f
// matches, or the error with which they would refuse: a name or type that T does
// not have, a class that opts do not allow, an option out of range. No request.
func (t *Table[T]) Explain(f query.Filter, opts *QueryOptions) (query.Plan, error) {
	if _, err := t.rows.plan(f, opts); err != nil {
		return query.Plan{}, err
	}
	return query.ExplainWith(f, &query.ExplainOptions{Schema: t.rows.schema}), nil
}
